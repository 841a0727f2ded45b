/* Loops that follow each other, each pair written once: as the text of a function, and as C, which
 * says what is right. NEIGHBOURS(name, how many loops remain, or ANY, how many run serially, alias,
 * body).
 * Not to be formatted: bodies become one line in messages. */
/* clang-format off */
/* One kernel. */
NEIGHBOURS(two_maps, 1, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i)*2.0f; } for (int i =
     0; i < n; i++) { z(i) = x(i) + 1.0f; } })
NEIGHBOURS(forwarded, 1, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i)*2.0f; } for (int i =
     0; i < n; i++) { z(i) = y(i) + 1.0f; } })
NEIGHBOURS(in_place, 1, 0, APART, { for (int i = 0; i < n; i++) { x(i) += y(i); } for (int i = 0; i
     < n; i++) { z(i) = x(i)*x(i); } })
NEIGHBOURS(twice_in_place, 1, 0, APART, { for (int i = 0; i < n; i++) { x(i) += 1.0f; } for (int i
     = 0; i < n; i++) { x(i) = x(i)*0.5f; } })
NEIGHBOURS(other_counter, 1, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i)*2.0f; } for (int
     j = 0; j < n; j++) { z(j) = y(j) + f32(j); } })
NEIGHBOURS(matrices, 1, 0, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
     c(i, j) = a(i, j)*2.0f; } for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { a(i, j) =
     c(i, j) + x(j); } })
NEIGHBOURS(names_exchanged, 1, 0, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
     { c(i, j) = a(i, j)*2.0f + f32(i); } for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) {
     a(j, i) = c(j, i) + f32(j); } })
NEIGHBOURS(three, 1, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i = 0; i <
     n; i++) { y(i) += 1.0f; } for (int i = 0; i < n; i++) { z(i) = y(i)*y(i); } })
NEIGHBOURS(four, 1, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i = 0; i < n;
     i++) { y(i) += 1.0f; } for (int i = 0; i < n; i++) { z(i) = y(i); } for (int i = 0; i < n;
     i++) { x(i) = z(i); } })
NEIGHBOURS(five, 2, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i = 0; i < n;
     i++) { y(i) += 1.0f; } for (int i = 0; i < n; i++) { z(i) = y(i); } for (int i = 0; i < n;
     i++) { x(i) = z(i); } for (int i = 0; i < n; i++) { x(i) += y(i); } })
NEIGHBOURS(two_sums, 1, 0, APART, { float s = 0.0f; float t = 0.0f; for (int i = 0; i < n; i++) { s
     += x(i); } for (int i = 0; i < n; i++) { t += y(i); } z(0) = s; z(1) = t; })
NEIGHBOURS(declared_between, 1, 0, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { s +=
     x(i); } float t = 0.0f; for (int i = 0; i < n; i++) { t += x(i)*y(i); } z(0) = s; z(1) = t; })
NEIGHBOURS(factor_between, 1, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } float h =
     0.5f*f32(n); for (int i = 0; i < n; i++) { z(i) = y(i)*h; } })
NEIGHBOURS(bound_between, 1, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } int m = n;
     for (int i = 0; i < m; i++) { z(i) = y(i)*0.5f; } })
NEIGHBOURS(same_privates, 1, 0, APART, { for (int i = 0; i < n; i++) { float t = x(i) + 1.0f; y(i)
     = t*t; } for (int i = 0; i < n; i++) { float t = y(i) - 1.0f; z(i) = t + t; } })
NEIGHBOURS(same_neighbours, 1, 0, APART, { for (int i = 1; i < n - 1; i++) { y(i) = x(i - 1) + x(i
     + 1); } for (int i = 1; i < n - 1; i++) { z(i) = x(i - 1) - x(i + 1) + y(i); } })
NEIGHBOURS(downward, 1, 0, APART, { for (int i = n - 1; i >= 0; i--) { y(i) = x(i)*2.0f; } for (int
     i = n - 1; i >= 0; i--) { z(i) = y(i); } })
NEIGHBOURS(by_two, 1, 0, APART, { for (int i = 0; i < n; i += 2) { y(i) = x(i); } for (int i = 0; i
     < n; i += 2) { z(i) = y(i) + x(i + 1); } })
NEIGHBOURS(halves, 1, 0, APART, { for (int i = 0; i < n/2; i++) { x(i) = y(i); } for (int i = 0; i
     < n/2; i++) { z(i) = x(i + n/2) + x(i); } })
NEIGHBOURS(chosen, 1, 0, APART, { for (int i = 0; i < n; i++) { if (x(i) > 2.0f) y(i) = 1.0f; } for
     (int i = 0; i < n; i++) { z(i) = y(i); } })
NEIGHBOURS(overwritten, 1, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i = 0;
     i < n; i++) { y(i) = z(i); } })
NEIGHBOURS(moved_on, 1, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i = 0; i
     < n; i++) { x(i) = z(i); } })
NEIGHBOURS(bounds_alike, 1, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i =
     0; i <= n - 1; i++) { z(i) = y(i); } })
NEIGHBOURS(in_a_loop, 2, 1, APART, { for (int s = 0; s < 2; s++) { for (int i = 0; i < n; i++) {
     x(i) += y(i); } for (int i = 0; i < n; i++) { y(i) = x(i)*0.5f; } } })
NEIGHBOURS(updates, 1, 0, APART, { float alpha = 0.5f; float beta = 0.25f; for (int i = 0; i < n;
     i++) { x(i) += alpha*y(i); } for (int i = 0; i < n; i++) { y(i) = z(i) + beta*y(i); } })
/* The last loops can be one, or the first. */
NEIGHBOURS(last_two, 2, 0, APART, { for (int i = 1; i < n - 1; i++) { y(i) = x(i); } for (int i =
     1; i < n - 1; i++) { z(i) = y(i - 1) + y(i + 1); } for (int i = 1; i < n - 1; i++) { x(i) =
     z(i)*0.5f; } })
NEIGHBOURS(first_two, 2, 0, APART, { for (int i = 1; i < n - 1; i++) { y(i) = x(i); } for (int i =
     1; i < n - 1; i++) { x(i) = y(i) + 1.0f; } for (int i = 1; i < n - 1; i++) { z(i) = y(i - 1) +
     y(i + 1); } })
/* A loop each. */
NEIGHBOURS(neighbours_of_it, 2, 0, APART, { for (int i = 1; i < n - 1; i++) { y(i) = x(i)*2.0f; }
     for (int i = 1; i < n - 1; i++) { z(i) = y(i - 1) + y(i + 1); } })
NEIGHBOURS(ahead, 2, 0, APART, { for (int i = 0; i < n - 1; i++) { y(i) = x(i)*2.0f; } for (int i =
     0; i < n - 1; i++) { z(i) = y(i + 1); } })
NEIGHBOURS(behind, 2, 0, APART, { for (int i = 1; i < n; i++) { y(i) = x(i)*2.0f; } for (int i = 1;
     i < n; i++) { z(i) = y(i - 1); } })
NEIGHBOURS(read_ahead_before, 2, 0, APART, { for (int i = 0; i < n - 1; i++) { z(i) = x(i + 1); }
     for (int i = 0; i < n - 1; i++) { x(i) = y(i); } })
NEIGHBOURS(read_behind_before, 2, 0, APART, { for (int i = 1; i < n; i++) { z(i) = x(i - 1); } for
     (int i = 1; i < n; i++) { x(i) = y(i); } })
NEIGHBOURS(written_over, 2, 0, APART, { for (int i = 0; i < n - 1; i++) { y(i) = x(i); } for (int i
     = 0; i < n - 1; i++) { y(i + 1) = z(i); } })
NEIGHBOURS(transposed, 2, 0, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
     c(i, j) = a(i, j)*2.0f; } for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { a(i, j) =
     c(j, i); } })
NEIGHBOURS(loops_exchanged, 2, 0, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
     { c(i, j) = a(i, j)*2.0f; } for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) { a(i, j)
     = c(i, j) + 1.0f; } })
NEIGHBOURS(reversed, 2, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i = 0; i
     < n; i++) { z(i) = y(n - 1 - i); } })
NEIGHBOURS(other_direction, 2, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i
     = n - 1; i >= 0; i--) { z(i) = y(i); } })
NEIGHBOURS(every_second, 2, 0, APART, { for (int i = 0; i < n/2; i++) { y(i) = x(i); } for (int i =
     0; i < n/2; i++) { z(i) = y(2*i); } })
NEIGHBOURS(other_end, 2, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i = 0; i
     < n - 1; i++) { z(i) = y(i); } })
NEIGHBOURS(other_start, 2, 0, APART, { for (int i = 0; i < n - 1; i++) { y(i) = x(i); } for (int i
     = 1; i < n; i++) { z(i) = y(i); } })
NEIGHBOURS(other_step, 2, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i = 0;
     i < n; i += 2) { z(i) = y(i); } })
NEIGHBOURS(other_depth, 2, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i = 0;
     i < n; i++) for (int j = 0; j < n; j++) { c(i, j) = a(i, j) + y(i); } })
NEIGHBOURS(sum_used, 2, 0, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { s += x(i); } for
     (int i = 0; i < n; i++) { y(i) = x(i)*s; } })
NEIGHBOURS(sum_used_between, 2, 0, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { s +=
     x(i); } float t = s*0.5f; for (int i = 0; i < n; i++) { y(i) = x(i)*t; } })
NEIGHBOURS(same_sum, 2, 0, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { s += x(i); } for
     (int i = 0; i < n; i++) { s += y(i); } z(0) = s; })
NEIGHBOURS(sum_set_again, 2, 0, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { s += x(i); }
     z(0) = s; s = 0.0f; for (int i = 0; i < n; i++) { s += y(i); } z(1) = s; })
NEIGHBOURS(counted_bound, 2, 0, APART, { int m = 0; for (int i = 0; i < n; i++) { if (x(i) > 2.0f)
     m += 1; } for (int i = 0; i < m; i++) { y(i) = x(i); } })
NEIGHBOURS(counter_used, 2, 0, APART, { int i = 0; for (i = 0; i < n; i++) { y(i) = x(i); } for
     (int j = 0; j < n; j++) { z(j) = x(j) + f32(i); } })
NEIGHBOURS(number_set_again, 2, 0, APART, { float t = 2.0f; for (int i = 0; i < n; i++) { y(i) =
     x(i)*t; } t = 3.0f; for (int i = 0; i < n; i++) { z(i) = x(i)*t; } })
NEIGHBOURS(element_between, 2, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } y(3) =
     7.0f; for (int i = 0; i < n; i++) { z(i) = y(i); } })
NEIGHBOURS(stored_and_summed, 2, 0, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { y(i) =
     x(i)*2.0f; } for (int i = 0; i < n; i++) { s += y(i); } z(0) = s; })
NEIGHBOURS(serial_after, 1, 1, APART, { for (int i = 1; i < n; i++) { y(i) = x(i); } for (int i =
     1; i < n; i++) { z(i) = z(i - 1) + y(i); } })
NEIGHBOURS(serial_before, 1, 1, APART, { for (int i = 1; i < n; i++) { z(i) = z(i - 1) + x(i); }
     for (int i = 1; i < n; i++) { y(i) = z(i); } })
NEIGHBOURS(overlapping, 2, 0, 1, { for (int i = 0; i < n; i++) { z(i) = x(i); } for (int i = 0; i <
     n; i++) { a(i, 0) = y(i); } })
NEIGHBOURS(written_elsewhere, 2, 0, 1, { for (int i = 0; i < n - 1; i++) { x(i) = z(i); } for (int
     i = 0; i < n - 1; i++) { c(i, 1) = y(i); } })
NEIGHBOURS(found_by_index, ANY, 0, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } for (int i
     = 0; i < n; i++) { z(i) = y(k(i)); } })
/* clang-format on */
