/* Loops of several sorts, each written once: as the text of a function, and as C, which says what
 * is right. LOOP(name, sort, whether its iterations are independent, alias, body); with an alias, y
 * is x moved by so many elements. Not to be formatted: bodies become one line in messages. */
/* clang-format off */
LOOP(copy, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { y(i) = x(i); } })
LOOP(axpy, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { y(i) = 0.5f*x(i) + y(i); } })
LOOP(compound, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { y(i) += x(i)*z(i); } })
LOOP(counter, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { y(i) = f32(i)*0.25f + f32(n);
     } })
LOOP(private, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { float t = x(i) + 1.0f; y(i) =
     t*t; z(i) = t - x(i); } })
LOOP(choice, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { if (x(i) > 2.0f) y(i) = x(i);
     else y(i) = -x(i); } })
LOOP(clipped, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { float v = x(i); if (v < 1.0f)
     v = 1.0f; if (v > 3.0f) v = 3.0f; y(i) = v; } })
LOOP(downward, PARALLEL, true, APART, { for (int i = n - 1; i >= 0; i--) { y(i) = x(i)*2.0f; } })
LOOP(even, PARALLEL, true, APART, { for (int i = 0; i < n; i += 2) { x(i) = x(i + 1) + 1.0f; } })
LOOP(halves, PARALLEL, true, APART, { for (int i = 0; i < n/2; i++) { x(i) = x(i + n/2)*0.5f; } })
LOOP(reversed, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { y(i) = x(n - 1 - i); } })
LOOP(matrix, PARALLEL, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
     c(i, j) = a(i, j)*2.0f + x(i) - y(j); } })
LOOP(transposed, PARALLEL, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
     { c(i, j) = a(j, i); } })
LOOP(outer, PARALLEL, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
     c(i, j) = x(i)*y(j); } })
LOOP(columns, PARALLEL, true, APART, { for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) {
     c(i, j) = a(i, j) + f32(i - j); } })
LOOP(ahead, PARALLEL, true, APART, { for (int i = 0; i < n - 1; i++) { x(i) = x(i + 1); } })
LOOP(integers, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { k(i) = k(i)*3 - i; } })
LOOP(nested_if, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { if (x(i) > 1.0f) { if (y(i)
     > 1.0f) z(i) = 1.0f; else z(i) = 2.0f; } } })
LOOP(prefix, SERIAL, false, APART, { for (int i = 1; i < n; i++) { x(i) = x(i - 1) + x(i); } })
LOOP(recurrence, SERIAL, false, APART, { for (int i = 1; i < n; i++) { x(i) = x(i - 1)*0.5f +
     y(i); } })
LOOP(second_order, SERIAL, false, APART, { for (int i = 2; i < n; i++) { x(i) = x(i - 2) +
     x(i)*0.25f; } })
LOOP(same_element, SERIAL, false, APART, { for (int i = 0; i < n; i++) { y(0) = x(i) + y(0)*0.5f;
     } })
LOOP(carried, SERIAL, false, APART, { float last = 0.0f; for (int i = 0; i < n; i++) { y(i) =
     last; last = x(i); } })
LOOP(downward_carried, SERIAL, false, APART, { for (int i = n - 2; i >= 0; i--) { x(i) = x(i + 1)
     + x(i); } })
LOOP(seidel, SERIAL, false, APART, { for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1;
     j++) { a(i, j) = 0.25f*(a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1)); } })
LOOP(written_then_read, SERIAL, false, APART, { for (int i = 1; i < n; i++) { x(i) = y(i)*2.0f;
     z(i) = x(i - 1); } })
LOOP(half_of_it, SERIAL, false, APART, { for (int i = 0; i < n; i++) { x(i) = x(i/2) + 1.0f; } })
LOOP(found, SERIAL, false, APART, { int at = -1; for (int i = 0; i < n; i++) { if (x(i) > 3.0f) {
     at = i; break; } } y(0) = f32(at); })
LOOP(twice, SERIAL, false, APART, { for (int i = 0; i < n - 1; i++) { y(i) = x(i); y(i + 1) =
     z(i); } })
LOOP(last_value, SERIAL, true, APART, { float t = 0.0f; for (int i = 0; i < n; i++) { t =
     x(i)*2.0f; y(i) = t; } z(0) = t; })
LOOP(linear_carried, SERIAL, false, APART, { for (int i = 0; i < n/2; i++) { x(2*i) = x(i) + 1.0f;
     } })
LOOP(sum, REDUCTION, true, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { s += x(i); }
     y(0) = s; })
LOOP(dot, REDUCTION, true, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { s += x(i)*y(i);
     } z(0) = s; })
LOOP(sum_written_out, REDUCTION, true, APART, { float s = 1.0f; for (int i = 0; i < n; i++) { s =
     s + x(i)*0.5f; } y(0) = s; })
LOOP(sum_reversed, REDUCTION, true, APART, { float s = 1.0f; for (int i = 0; i < n; i++) { s =
     x(i) + s; } y(0) = s; })
LOOP(difference, REDUCTION, true, APART, { float s = 100.0f; for (int i = 0; i < n; i++) { s -=
     x(i); } y(0) = s; })
LOOP(product, REDUCTION, true, APART, { float s = 1.0f; for (int i = 0; i < 8; i++) { s *= x(i) +
     1.0f; } y(0) = s; })
LOOP(largest, REDUCTION, true, APART, { float s = x(0); for (int i = 0; i < n; i++) { s = max(s,
     x(i)); } y(0) = s; })
LOOP(smallest, REDUCTION, true, APART, { float s = x(0); for (int i = 0; i < n; i++) { s =
     min(x(i), s); } y(0) = s; })
LOOP(sum_of_matrix, REDUCTION, true, APART, { float s = 0.0f; for (int i = 0; i < n; i++) for (int
     j = 0; j < n; j++) { s += a(i, j); } y(0) = s; })
LOOP(counted, REDUCTION, true, APART, { int s = 0; for (int i = 0; i < n; i++) { if (x(i) > 2.0f)
     s += 1; } y(0) = f32(s); })
LOOP(two_sums, REDUCTION, true, APART, { float s = 0.0f; float t = 0.0f; for (int i = 0; i < n;
     i++) { s += x(i); t += x(i)*x(i); } y(0) = s; y(1) = t; })
LOOP(sum_and_store, REDUCTION, true, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { y(i) =
     x(i)*2.0f; s += y(i); } z(0) = s; })
LOOP(sum_of_integers, REDUCTION, true, APART, { int s = 5; for (int i = 0; i < n; i++) { s +=
     k(i)*k(i); } y(0) = f32(s); })
LOOP(counted_up, REDUCTION, true, APART, { int s = 0; for (int i = 0; i < n; i++)
     { if (x(i) > 2.0f) s++; } y(0) = f32(s); })
LOOP(compacted, SERIAL, false, APART, { int s = 0; for (int i = 0; i < n; i++)
     { if (x(i) > 2.0f) { y(s) = x(i); s++; } } })
LOOP(rows_summed, REDUCTION, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int
     j = 0; j < n; j++) s += a(i, j); y(i) = s; } })
LOOP(matrix_vector, REDUCTION, true, APART, { for (int i = 0; i < n; i++) { float s = 1.0f; for
     (int j = 0; j < n; j++) { s += a(i, j)*x(j); } y(i) = s*0.5f; z(i) = s; } })
LOOP(matrix_product, REDUCTION, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n;
     j++) { float s = 0.0f; for (int l = 0; l < n; l++) s += a(i, l)*a(l, j); c(i, j) = s; } })
LOOP(accumulated, REDUCTION, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n;
     j++) { y(i) += a(i, j); } })
LOOP(columns_accumulated, REDUCTION, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j
     < n; j++) { y(j) += a(i, j)*x(i); } })
LOOP(product_accumulated, REDUCTION, true, APART, { for (int i = 0; i < n; i++) for (int l = 0; l
     < n; l++) for (int j = 0; j < n; j++) { c(i, j) += a(i, l)*a(l, j); } })
LOOP(largest_of_rows, REDUCTION, true, APART, { for (int i = 0; i < n; i++) { float s = a(i, 0);
     for (int j = 1; j < n; j++) { s = max(s, a(i, j)); } y(i) = s; } })
LOOP(lower_rows, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int
     j = 0; j <= i; j++) { s += a(i, j)*x(j); } y(i) = s; } })
LOOP(empty_rows, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) { float s = 2.0f; for (int
     j = 0; j < i; j++) { s += a(i, j); } y(i) = s; } })
LOOP(forward_substitution, SERIAL, false, APART, { for (int i = 0; i < n; i++) { float s = x(i);
     for (int j = 0; j < i; j++) { s = max(s, a(i, j) - x(j)); } x(i) = s*0.25f; } })
LOOP(running_rows, SERIAL, false, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { for (int
     j = 0; j < n; j++) { s += a(i, j); } y(i) = s; } })
LOOP(rows_of_itself, SERIAL, false, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for
     (int j = 0; j < n; j++) { s = max(s, y(j)); } y(i) = s*0.5f; } })
LOOP(scaled_rows, REDUCTION, true, APART, { for (int i = 0; i < n; i++) { float w = x(i)*2.0f;
     float s = 0.0f; for (int j = 0; j < n; j++) { if (a(i, j) > w) s += a(i, j) - w; } y(i) = s +
     w; } })
LOOP(alias_rows, ALIASED, false, 3, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int j =
     0; j < n; j++) { s = max(s, x(j)); } y(i) = s*0.5f; } })
LOOP(iterated, SERIAL, true, APART, { for (int i = 0; i < n; i++) { float v = x(i); int s = 0;
     for (int j = 0; j < n; j++) { v = v*0.5f + 1.0f; if (v > x(j)) s = s + 1; } y(i) = f32(s); } })
LOOP(swept, SERIAL, true, APART, { for (int i = 0; i < n; i++) { float v = 0.0f; float s = 0.0f;
     for (int j = 0; j < n; j++) { s = max(s, v - a(i, j)); v = a(i, j); } y(i) = s; } })
LOOP(carried_weight, SERIAL, false, APART, { float w = 1.0f; for (int i = 0; i < n; i++) {
     float s = 0.0f; for (int j = 0; j < n; j++) { s = max(s, a(i, j) - w); } w = s*0.5f;
     y(i) = s; z(i) = w; } })
LOOP(cut_sum, REDUCTION, false, APART, { int s = 0; for (int i = 0; i < n; i++) { s += x(i); }
     y(0) = f32(s); })
LOOP(cut_rows, REDUCTION, true, APART, { for (int i = 0; i < n; i++) { int s = 1; for (int j = 0;
     j < n; j++) { s += a(i, j); } y(i) = f32(s); } })
LOOP(narrow_least, REDUCTION, false, APART, { uint8_t s = 9; for (int i = 0; i < n; i++) { s =
     min(s, k(i) - 3); } y(0) = f32(s); })
LOOP(narrow_largest, REDUCTION, true, APART, { uint8_t s = 9; for (int i = 0; i < n; i++) { s =
     max(s, k(i)); } y(0) = f32(s); })
LOOP(wide_sum, REDUCTION, true, APART, { double s = 0; for (int i = 0; i < n; i++) { s +=
     x(i)*1e38f; } y(0) = f32(s*1e-40); })
LOOP(wide_rows, REDUCTION, true, APART, { for (int i = 0; i < n; i++) { double s = 0; for (int j =
     0; j < n; j++) { s += a(i, j)*0x1p125f; } y(i) = f32(s*0x1p-125); } })
LOOP(wide_product, REDUCTION, true, APART, { double s = 1; for (int i = 0; i < 10; i++) { s *=
     1024*(k(i) + 1); } y(0) = f32(s*1e-30); })
LOOP(same_term, REDUCTION, true, APART, { float w = 1.5f; float s = 0.25f; for (int i = 0; i < n;
     i++) { s += w; } y(0) = s; })
LOOP(same_in_rows, REDUCTION, true, APART, { float w = 1.5f; for (int i = 0; i < n; i++) for (int
     j = 0; j < n; j++) { y(i) += w; } })
LOOP(counted_real, REDUCTION, true, APART, { double s = 0.5; for (int i = 0; i < n; i++) { if
     (x(i) > 1.0f) s++; } y(0) = f32(s); })
LOOP(counting_reals, SERIAL, false, APART, { double s = 0.5; for (int i = 1; i < n; i++) { s--;
     y(i) = y(i - 1) + f32(s); } })
LOOP(trace, REDUCTION, true, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { s += a(i, i);
     } y(0) = s; })
LOOP(blur, STENCIL, true, APART, { for (int i = 1; i < n - 1; i++) { y(i) = 0.25f*(x(i - 1) + x(i)
     + x(i) + x(i + 1)); } })
LOOP(five_points, STENCIL, true, APART, { for (int i = 1; i < n - 1; i++) for (int j = 1; j < n -
     1; j++) { c(i, j) = 0.25f*(a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1)); } })
LOOP(gradient, STENCIL, true, APART, { for (int i = 0; i < n - 1; i++) { y(i) = x(i + 1) - x(i); }
     })
LOOP(in_place_forward, STENCIL, true, APART, { for (int i = 0; i < n - 2; i++) { x(i) = x(i +
     1)*0.5f + x(i + 2)*0.5f; } })
LOOP(backward, STENCIL, true, APART, { for (int i = n - 1; i >= 1; i--) { x(i) = x(i) - x(i - 1);
     } })
LOOP(nine_points, STENCIL, true, APART, { for (int i = 1; i < n - 1; i++) for (int j = 1; j < n -
     1; j++) { c(i, j) = a(i - 1, j - 1) + a(i - 1, j + 1) + a(i + 1, j - 1) + a(i + 1, j + 1) -
     4.0f*a(i, j); } })
LOOP(rows_only, STENCIL, true, APART, { for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) {
     c(i, j) = a(i, j) - a(i - 1, j); } })
LOOP(inside_edges, STENCIL, true, APART, { for (int i = 1; i < n - 1; i++) { if (x(i) > 1.0f) y(i)
     = x(i - 1); else y(i) = x(i + 1); } })
LOOP(wide, STENCIL, true, APART, { for (int i = 3; i < n - 3; i++) { y(i) = x(i - 3) + x(i + 3); }
     })
LOOP(stencil_twice, STENCIL, true, APART, { for (int i = 1; i < n - 1; i++) { y(i) = x(i - 1) +
     x(i + 1); z(i) = x(i + 1) - x(i - 1); } })
LOOP(lower, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) {
     c(i, j) = a(i, j)*2.0f; } })
LOOP(upper, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) for (int j = i; j < n; j++) {
     c(i, j) = a(i, j) + 1.0f; } })
LOOP(strictly_lower, TRIANGULAR, true, APART, { for (int i = 1; i < n; i++) for (int j = 0; j < i;
     j++) { c(i, j) = x(i) - y(j); } })
LOOP(mirrored, TRIANGULAR, true, APART, { for (int i = 1; i < n; i++) for (int j = 0; j < i; j++)
     { a(i, j) = a(j, i); } })
LOOP(sum_of_lower, TRIANGULAR, true, APART, { float s = 0.0f; for (int i = 0; i < n; i++) for (int
     j = 0; j <= i; j++) { s += a(i, j); } y(0) = s; })
LOOP(band, TRIANGULAR, true, APART, { for (int i = 1; i < n - 1; i++) for (int j = i - 1; j <= i +
     1; j++) { c(i, j) = a(i, j); } })
LOOP(downward_triangle, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) for (int j = n - 1;
     j > i; j--) { c(i, j) = 1.0f; } })
LOOP(anti, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n - i; j++)
     { c(i, j) = a(j, i); } })
LOOP(substitution, TRIANGULAR, false, APART, { for (int i = 1; i < n; i++) for (int j = 0; j < i;
     j++) { x(i) = x(i) - a(i, j)*x(j); } })
LOOP(doubled_triangle, TRIANGULAR, false, APART, { for (int i = 1; i < n; i++) for (int j = 0; j <
     i; j++) { a(i, j) = a(i, j) + a(i - 1, j)*0.5f; } })
LOOP(alias_same, ALIASED, true, 0, { for (int i = 0; i < n; i++) { y(i) = x(i) + 1.0f; } })
LOOP(alias_forward, ALIASED, false, 1, { for (int i = 0; i < n - 1; i++) { y(i) = x(i)*0.5f; } })
LOOP(alias_backward, ALIASED, false, -1, { for (int i = 1; i < n; i++) { y(i) = x(i) + 2.0f; } })
LOOP(alias_far, ALIASED, false, 12, { for (int i = 0; i < n; i++) { y(i) = x(i) - 1.0f; } })
LOOP(alias_sum, ALIASED, false, 3, { float s = 0.0f; for (int i = 0; i < n; i++) { y(i) =
     x(i)*2.0f; s += x(i); } z(0) = s; })
LOOP(alias_swap, ALIASED, false, 5, { for (int i = 0; i < n; i++) { float t = x(i); x(i) = y(i);
     y(i) = t; } })
LOOP(alias_stencil, ALIASED, false, 2, { for (int i = 1; i < n - 1; i++) { y(i) = x(i - 1) + x(i +
     1); } })
LOOP(alias_choice, ALIASED, false, 4, { for (int i = 0; i < n; i++) { if (x(i) > 1.0f) y(i) =
     0.0f; } })
LOOP(gather, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { y(i) = x(k(i)); } })
LOOP(scatter, INDIRECT, false, APART, { for (int i = 0; i < n; i++) { y(k(i)) = x(i); } })
LOOP(histogram, INDIRECT, false, APART, { for (int i = 0; i < n; i++) { y(k(i)) += 1.0f; } })
LOOP(chased, INDIRECT, false, APART, { for (int i = 1; i < n; i++) { x(i) = x(k(i)) + 1.0f; } })
LOOP(gather_sum, INDIRECT, true, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { s +=
     x(k(i)); } y(0) = s; })
LOOP(row_of, INDIRECT, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
     c(i, j) = a(k(i), j); } })
LOOP(scatter_rows, INDIRECT, false, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n;
     j++) { c(k(i), j) = a(i, j); } })
LOOP(swapped, INDIRECT, false, APART, { for (int i = 0; i < n; i++) { float t = x(i); x(i) =
     x(k(i)); x(k(i)) = t; } })
LOOP(escapes, INNER, true, APART, { for (int i = 0; i < n; i++) { float u = 0.0f; int m = 0; while
     (m < 50 && u < 100.0f) { u = u*1.5f + x(i); m++; } y(i) = f32(m); z(i) = u; } })
LOOP(halved, INNER, true, APART, { for (int i = 0; i < n; i++) { int m = k(i); int s = 0; while (m
     > 1) { if (m % 2 == 0) m = m/2; else m = 3*m + 1; s++; } k(i) = s; } })
LOOP(product_row, INNER, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; float p =
     0.0f; for (int j = 0; j < n; j++) { s = s*0.5f + a(i, j); p += s*x(j); } y(i) = p; } })
LOOP(nearest, INNER, true, APART, { for (int i = 0; i < n; i++) { float least = 1000.0f; int best
     = 0; for (int j = 0; j < n; j++) { float t = x(i) - z(j); if (t*t < least) { least = t*t;
     best = j; } } k(i) = best; y(i) = least; } })
LOOP(two_deep, INNER, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int j = 0;
     j < 3; j++) { float t = 0.0f; for (int m = 0; m < 4; m++) { t += a(i, 4*j + m)*x(m); } s =
     s*0.25f + t; } y(i) = s; } })
LOOP(while_in_while, INNER, true, APART, { for (int i = 0; i < n; i++) { int m = i; float s =
     0.0f; while (m > 0) { int q = m; while (q % 3 != 0) { q = q - 1; s += 0.5f; } s += f32(q); m
     = m - 5; } y(i) = s; } })
LOOP(searched, INNER, true, APART, { for (int i = 0; i < n; i++) { int m = 0; while (m < n && x(m)
     < z(i)) m++; y(i) = f32(m); } })
LOOP(under_condition, INNER, true, APART, { for (int i = 0; i < n; i++) { float s = 1.0f; if (x(i)
     > 2.0f) { int m = 0; while (m < k(i)) { s = s + 0.25f; m++; } } y(i) = s; } })
LOOP(in_a_plane, INNER, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
     float s = a(i, j); int m = i; while (m < j) { s = s + 0.25f; m += 2; } c(i, j) = s; } })
LOOP(down, INNER, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int m = n - 1;
     m >= i; m--) { s = s*0.5f + x(m); } y(i) = s; } })
LOOP(after_another, INNER, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; int m = 0;
     while (m < i) { s += 1.0f; m++; } while (m > 3) { s += 0.25f; m = m - 2; } y(i) = s; } })
LOOP(exchanged, INNER, true, APART, { for (int i = 0; i < n; i++) { float p = x(i); float q =
     y(i); for (int m = 0; m < i; m++) { float t = p; p = q; q = t + 0.25f; } y(i) = p; z(i) = q;
     } })
LOOP(counted_in_all, INNER, true, APART, { int s = 0; for (int i = 0; i < n; i++) { int m = i;
     while (m < 30) m = m + 7; s += m; } k(0) = s; })
LOOP(from_row_to_row, INNER, false, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { int m =
     0; while (m < 3) { s = s*0.5f + x(i); m++; } y(i) = s; } })
LOOP(of_earlier_rows, INNER, false, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; int m =
     0; while (m < i) { s += y(m)*0.5f; m++; } y(i) = s + x(i); } })
LOOP(running_counter, INNER, false, APART, { int m = 0; for (int i = 0; i < n; i++) { while (m <
     2*i) m = m + 3; y(i) = f32(m); } })
LOOP(kept_from_before, INNER, false, APART, { float t = 0.0f; for (int i = 0; i < n; i++) { int m
     = 0; while (m < k(i)) { t = x(i); m++; } y(i) = t; } })
LOOP(left_early, INNER, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; int m = 0; for
     (m = 0; m < n; m++) { s += x(m)*0.5f; if (s > z(i) + 4.0f) break; s += 0.25f; } y(i) = s; k(i)
     = m; } })
LOOP(left_at_once, INNER, true, APART, { for (int i = 0; i < n; i++) { int m = i; while (m > 0) {
     if (m % 5 == 0) break; m = m - 1; } y(i) = f32(m); } })
LOOP(left_two_ways, INNER, true, APART, { for (int i = 0; i < n; i++) { float s = x(i); int m = 0;
     while (m < 40) { m = m + 1; if (s > 6.0f) { s = s - 1.0f; if (m > 9) { s = s + 32.0f; break; }
     } else if (m % 7 == 6) break; s = s*1.25f; } y(i) = s; z(i) = f32(m); } })
LOOP(rounds_skipped, INNER, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; int c1 = 0;
     for (int m = 0; m < n; m++) { if (x(m) > 2.0f) continue; s = s*0.5f + x(m); if (m == i)
     continue; c1 = c1 + 1; } y(i) = s; k(i) = c1; } })
LOOP(inmost_left, INNER, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int j =
     0; j < n; j++) { for (int m = 0; m < n; m++) { if (m > j) break; if (a(j, m) > 3.0f) continue;
     s = s*0.5f + a(j, m); } if (s > z(i)) break; } y(i) = s; } })
LOOP(skipped, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { if (x(i) > 2.0f) continue; y(i)
     = x(i) + 1.0f; if (y(i) < 1.5f) { z(i) = 7.0f; continue; } z(i) = x(i); } })
LOOP(skipped_sum, REDUCTION, true, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { if (k(i) %
     3 == 0) continue; s += x(i); } y(0) = s; })
LOOP(skipped_rows, REDUCTION, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int
     j = 0; j < n; j++) { if (a(i, j) > 2.0f) continue; s += a(i, j); } if (s < 9.0f) continue; y(i)
     = s; } })
LOOP(skipped_carry, SERIAL, true, APART, { float t = 1.0f; for (int i = 0; i < n; i++) { if (x(i) >
     2.0f) continue; t = x(i); y(i) = t; } z(0) = t; })
LOOP(skipped_before_set, SERIAL, false, APART, { float t = 1.0f; for (int i = 0; i < n; i++) { if
     (x(i) > 2.0f) { y(i) = t; continue; } t = x(i); y(i) = t*2.0f; } })
LOOP(left_outside, SERIAL, false, APART, { for (int i = 0; i < n; i++) { if (x(i) > 3.75f) break;
     y(i)
     = x(i) + 1.0f; } })
LOOP(left_in_the_middle, SERIAL, false, APART, { int m = 0; for (int i = 0; i < n; i++) { while (m <
     n) { if (m > 2*i) break; m = m + 1; } y(i) = f32(m); } })
LOOP(gather_private, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { int m = k(i); float t =
     x(m) + z(i); y(i) = t*x(n - 1 - m); } })
LOOP(gather_twice, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { y(i) = x(k(k(i))) +
     z(k(i)); } })
LOOP(gather_computed, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { y(i) = x((k(i)*7 + i +
     3) % n) - x(k(i)/2); } })
LOOP(gather_plane, INDIRECT, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n;
     j++) {
     c(i, j) = a(k(j), k(i)) + a(i, k(n - 1 - j)); } })
LOOP(gather_rows, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int j
     = 0; j < n; j++) { s += a(i, k(j))*x(k(j)); } y(i) = s; } })
LOOP(gather_choice, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { if (k(i) > 8) y(i) =
     x(k(i) - 1); else y(i) = x(k(i) + 1); } })
LOOP(gather_largest, INDIRECT, true, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { s =
     max(s, x(k(i)) - z(k(i))); } y(0) = s; })
LOOP(gather_range, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int m
     = k(i); m < k(n - 1 - i) + 1; m++) { s = s*0.5f + x(m)*z(k(m)); } y(i) = s; } })
LOOP(gather_until, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { int m = i; int s = 0;
     while
     (s < 9) { s = s + 1; m = k(m); if (m % 4 == 0) break; } y(i) = f32(m + 100*s); } })
LOOP(gather_scattered, INDIRECT, false, APART, { for (int i = 0; i < n; i++) { z(k(i)) = x(k(i)) +
     z(i); } })
LOOP(gather_of_written, INDIRECT, false, APART, { for (int i = 0; i < n - 1; i++) { k(i + 1) =
     (k(i +
     1) + 3) % n; y(i) = x(k(i)); } })
LOOP(alias_gather, ALIASED, false, 3, { for (int i = 0; i < n; i++) { y(i) = x(k(i)) + 1.0f; } })
LOOP(guarded_edge, STENCIL, true, APART, { for (int i = 0; i < n; i++) { if (i > 0 && i < n - 1)
     y(i) = x(i - 1) + x(i + 1); else y(i) = x(i); } })
LOOP(guarded_corners, STENCIL, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n;
     j++) { float s = a(i, j); if (i > 0) s += a(i - 1, j); if (j < n - 1) s += a(i, j + 1); if
     (i > 1 && j > 1) s -= a(i - 2, j - 2); c(i, j) = s; } })
LOOP(guarded_first, STENCIL, true, APART, { for (int i = 0; i < n; i++) { if (i == 0) y(i) = 1.0f;
     else y(i) = x(i - 1); } })
LOOP(guarded_window, STENCIL, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int
     j = -2; j <= 2; j++) { if (i + j >= 0 && i + j < n) s += x(i + j); } y(i) = s; } })
LOOP(guarded_in_place, STENCIL, true, APART, { for (int i = 0; i < n; i++) { if (i < n - 1) x(i) =
     x(i + 1)*0.5f; } })
LOOP(guarded_carried, SERIAL, false, APART, { for (int i = 0; i < n; i++) { if (i > 0) x(i) =
     x(i - 1) + 1.0f; } })
LOOP(clipped_window, STENCIL, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for (int
     j = max(i - 2, 0); j < min(i + 3, n); j++) { s += x(j); } y(i) = s; } })
LOOP(clipped_band, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) for (int j = max(0, i -
     2); j <= min(n - 1, i + 2); j++) { c(i, j) = a(i, j)*2.0f; } })
LOOP(every_second, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) for (int j = i; j < n; j
     += 2) { c(i, j) = a(i, j) + 1.0f; } })
LOOP(every_third_down, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) for (int j = n - 1; j
     > i; j -= 3) { c(i, j) = a(j, i) - 1.0f; } })
LOOP(every_other_red, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) for (int j = i % 2; j <
     n; j += 2) { c(i, j) = a(i, j)*0.5f; } })
LOOP(triangular_filter, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f; for
     (int j = 0; j <= i; j++) { s += x(j)*y(i - j); } z(i) = s; } })
LOOP(unequal, PARALLEL, true, APART, { for (int i = 0; i != n; i++) { y(i) = x(i)*2.0f; } })
LOOP(unequal_down, PARALLEL, true, APART, { for (int i = n - 2; i != 0; i -= 2) { y(i) = x(i); } })
LOOP(guarded_gather, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { if (k(i) - 3 >= 0) y(i)
     = x(k(i) - 3); } })
LOOP(guarded_both, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { int m = 2*k(i) - 9; if (m
     < 0 || m >= n) y(i) = 0.5f; else y(i) = x(m) + x(n - 1 - m); } })
LOOP(guarded_continue, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { if (k(i) < 4)
     continue; if (k(i) > 20) continue; y(i) = x(k(i) - 4) + x(k(i) + 3); } })
LOOP(guarded_deep, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { if (k(i) >= 5) { if
     (x(k(i) - 5) > 1.0f) y(i) = x(k(i) - 5); else y(i) = 7.0f; } } })
LOOP(guarded_rows, INDIRECT, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
     { if (k(i) + j < n) c(i, j) = a(k(i) + j, j); } })
LOOP(behind_and, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { if (k(i) > 2 && x(k(i) - 3)
     > 1.0f) y(i) = 1.0f; } })
LOOP(behind_or, STENCIL, true, APART, { for (int i = 0; i < n; i++) { if (i == 0 || x(i - 1) >
     1.0f) y(i) = 1.0f; } })
LOOP(behind_and_carried, SERIAL, false, APART, { for (int i = 0; i < n; i++) { if (i > 0 && x(i - 1)
     > 1.0f) x(i) = x(i - 1) - 1.0f; } })
LOOP(behind_and_through, SERIAL, false, APART, { for (int i = 0; i < n; i++) { if (i > 1 && x(k(i -
     2)) > 1.0f) x(i) = x(i - 1) - 1.0f; } int j = 0; while (j < n && x(k(j)) < 40.0f) j++; z(0) =
     f32(j); })
LOOP(inserted, SERIAL, false, APART, { for (int i = 1; i < n; i++) { float v = x(i); int j = i - 1;
     while (j >= 0 && x(j) > v) { x(j + 1) = x(j); j--; } x(j + 1) = v; } })
LOOP(smallest_by_if, REDUCTION, true, APART, { float s = x(0); for (int i = 1; i < n; i++) { if
     (x(i) < s) s = x(i); } y(0) = s; })
LOOP(largest_by_if, REDUCTION, true, APART, { float s = 1.0f; for (int i = 0; i < n; i++) { if
     (y(i) > 0.5f) if (s <= x(i) - y(i)) s = x(i) - y(i); } z(0) = s; })
LOOP(largest_of_some, REDUCTION, true, APART, { float s = 0.0f; for (int i = 0; i < n; i++) { if
     (k(i) > 9) s = max(s, x(i)); } y(0) = s; })
LOOP(two_ways, REDUCTION, true, APART, { float s = 1.0f; for (int i = 0; i < n; i++) { if (x(i) >
     2.0f) s += x(i); else s -= y(i); } z(0) = s; })
LOOP(several_terms, REDUCTION, true, APART, { float s = 0.0f; int m = 0; for (int i = 0; i < n;
     i++) { s += x(i); s += 0.25f; m++; if (x(i) > 2.0f) m += 3; } z(0) = s; z(1) = f32(m); })
LOOP(counted_points, REDUCTION, true, APART, { int m = 0; for (int i = 0; i < n; i++) for (int j =
     0; j <= i; j++) { m += i*j + 1; } z(0) = f32(m); })
LOOP(smallest_used, REDUCTION, false, APART, { float s = 9.0f; for (int i = 0; i < n; i++) { if
     (x(i) < s) s = x(i); y(i) = s; } })
LOOP(sum_and_product, REDUCTION, false, APART, { float s = 0.5f; for (int i = 0; i < n; i++) { if
     (x(i) > 2.0f) s += x(i); else s *= 0.5f; } z(0) = s; })
LOOP(running_rows_of_their_own, PARALLEL, true, APART, { for (int i = 0; i < n; i++) for (int j =
     1; j < n; j++) { a(i, j) += a(i, j - 1); } })
LOOP(running_columns, PARALLEL, true, APART, { for (int j = 0; j < n; j++) for (int i = 1; i < n;
     i++) { a(i, j) = a(i - 1, j)*0.5f + a(i, j); } })
LOOP(running_down, SERIAL, false, APART, { for (int i = 1; i < n; i++) { a(i, 0) = a(i - 1, 1);
     for (int j = 1; j < n; j++) { a(i, j) = a(i, j - 1) + a(i - 1, j); } } })
LOOP(scaled_by_their_sum, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { float s = 0.0f;
     for (int j = 0; j < n; j++) s += a(i, j); for (int j = 0; j < n; j++) { a(i, j) = a(i, j)*0.5f
     - s; } } })
LOOP(sorted_rows, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { for (int m = 1; m < n;
     m++) { float v = a(i, m); int j = m - 1; while (j >= 0 && a(i, j) > v) { a(i, j + 1) = a(i, j);
     j--; } a(i, j + 1) = v; } } })
LOOP(sorted_into_the_next, SERIAL, false, APART, { for (int i = 0; i < n - 1; i++) { for (int m =
     1; m < n; m++) { float v = a(i, m); int j = m - 1; while (j >= 0 && a(i, j) > v) { a(i + 1, j +
     1) = a(i, j); j--; } } } })
LOOP(written_before, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { if (i > 0) y(i - 1) =
     x(i); } })
LOOP(written_before_and_after, SERIAL, false, APART, { for (int i = 0; i < n; i++) { if (i > 0)
     y(i - 1) = x(i); if (i < n - 1) y(i + 1) = z(i); } })
LOOP(some_written_before, SERIAL, false, APART, { for (int i = 0; i < n; i++) { if (i > 3) y(i) =
     y(i - 3)*0.5f; } })
LOOP(far_from_it, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { if (i >= n/2) y(i) = y(i -
     n/2)*0.5f; } })
LOOP(turned_in_place, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < i;
     j++) { float t = a(i, j); a(i, j) = a(j, i); a(j, i) = t; } })
LOOP(mirrored_all, TRIANGULAR, false, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n;
     j++) { float t = a(i, j) + 1.0f; a(i, j) = a(j, i); a(j, i) = t; } })
LOOP(both_triangles, TRIANGULAR, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j <= i;
     j++) { float t = 0.0f; for (int m = 0; m < n; m++) t += a(i, m)*a(j, m); c(i, j) = t; c(j, i) =
     t; } })
LOOP(triangles_that_meet, TRIANGULAR, false, APART, { for (int i = 0; i < n - 1; i++) for (int j =
     0; j <= i + 1; j++) { float t = a(i, j); c(i, j) = t; c(j, i) = t*0.5f; } })
LOOP(by_a_variable, PARALLEL, true, APART, { int by = 3; for (int i = 1; i < n; i += by) { y(i) =
     x(i) + 1.0f; if (i > 0) y(i - 1) = 5.0f; } })
LOOP(by_too_little, SERIAL, false, APART, { int by = 1; for (int i = 1; i < n; i += by) { y(i) =
     x(i) + 1.0f; if (i > 0) y(i - 1) = 5.0f; } })
LOOP(downward_by, PARALLEL, true, APART, { int by = 2; for (int i = n - 1; i > 0; i -= by) { y(i) =
     x(i); y(i - 1) = x(i)*0.5f; } })
LOOP(counted_in_rows, INDIRECT, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n;
     j++) { a(i, k(j)) += 1.0f; } })
LOOP(counted_in_columns, INDIRECT, false, APART, { for (int i = 0; i < n; i++) for (int j = 0; j <
     n; j++) { a(k(i), j) += x(i)*a(j, i); } })
LOOP(private_position, PARALLEL, true, APART, { for (int i = 0; i < n/2; i++) { int p = 2*i; if
     (x(i) > 2.0f) { y(p) = x(i); y(p + 1) = -x(i); } } })
LOOP(changed_position, SERIAL, false, APART, { for (int i = 0; i < n/2; i++) { int p = 2*i; if
     (x(i) > 2.0f) p = 0; y(p) = x(i); } })
LOOP(found_by_halves, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { int low = 0; int high =
     n; while (low < high) { int m = (low + high)/2; if (x(m) < y(i)) low = m + 1; else high = m; }
     z(i) = f32(low); } })
LOOP(passed_over, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { if (i >= n/2) continue;
     y(i) = y(i + n/2) + 1.0f; } })
LOOP(alias_same_rows, ALIASED, true, 0, { for (int i = 0; i < n; i++) { float s = y(i); for (int j
     = 0; j < n; j++) { s = s*0.5f + a(i, j); } x(i) = s; } })
LOOP(alias_same_reversed, ALIASED, false, 0, { for (int i = 0; i < n; i++) { y(i) = x(n - 1 - i);
     } })
LOOP(one_of_them, REDUCTION, true, APART, { int f = 0; for (int i = 0; i < n; i++) { if (x(i) >
     3.0f) f = 1; } y(0) = f32(f); })
LOOP(one_or_other, REDUCTION, true, APART, { bool f = false; for (int i = 0; i < n; i++) { f = f ||
     x(i) > 3.0f; } y(0) = f32(f); })
LOOP(all_of_them, REDUCTION, true, APART, { bool f = true; bool g = true; for (int i = 0; i < n;
     i++) { f = f && x(i) > -9.0f; g = x(i) > 1.0f && g; } y(0) = f32(f); y(1) = f32(g); })
LOOP(or_if, REDUCTION, true, APART, { int f = 6; for (int i = 0; i < n; i++) { if (k(i) > 90) f = f
     || x(i) > 3.0f; } y(0) = f32(f); })
LOOP(bits, REDUCTION, true, APART, { int p = 0; int q = -1; int r = 5; for (int i = 0; i < n; i++) {
     p |= k(i); q &= k(i) + 32; r ^= k(i)*3; } y(0) = f32(p); y(1) = f32(q); y(2) = f32(r); })
LOOP(bits_and_more, REDUCTION, false, APART, { int p = 1; for (int i = 0; i < n; i++) { p |= k(i);
     p ^= 3; } y(0) = f32(p); })
LOOP(bits_on_the_way, REDUCTION, false, APART, { int p = 1; for (int i = 0; i < n; i++) { p |= k(i);
     y(i) = f32(p); } })
LOOP(counted_by_comparing, REDUCTION, true, APART, { int m = 0; for (int i = 0; i < n; i++) { m +=
     x(i) > 2.0f; } y(0) = f32(m); })
LOOP(where_least, REDUCTION, true, APART, { float m = x(0); int at = 0; for (int i = 1; i < n; i++)
     { if (x(i) < m) { m = x(i); at = i; } } y(0) = m; y(1) = f32(at); })
LOOP(where_last_greatest, REDUCTION, true, APART, { float m = -1.0f; int at = -1; for (int i = 0; i
     < n; i++) { float v = x(i) - y(i); if (v >= m) { at = i; m = v; } } z(0) = m; z(1) =
     f32(at); })
LOOP(where_in_matrix, REDUCTION, true, APART, { float m = a(0, 0); int p = 0; int q = 0; for (int i
     = 0; i < n; i++) for (int j = 0; j < n; j++) { if (m < a(i, j)) { m = a(i, j); p = i; q = j;
     } } y(0) = m; y(1) = f32(p); y(2) = f32(q); })
LOOP(where_least_integer, REDUCTION, true, APART, { int m = 1000; int at = 0; for (int i = 0; i < n;
     i++) { if (x(i) > 1.0f) { if (k(i) <= m) { m = k(i); at = i; } } } y(0) = f32(m); y(1) =
     f32(at); })
LOOP(where_cut, REDUCTION, false, APART, { int m = 1000; int at = 0; for (int i = 0; i < n; i++) {
     if (x(i) <= m) { m = x(i); at = i; } } y(0) = f32(m); y(1) = f32(at); })
LOOP(least_so_far, REDUCTION, false, APART, { float m = x(0); for (int i = 1; i < n; i++) { if (x(i)
     < m) { m = x(i); y(i) = 1.0f; } } z(0) = m; })
LOOP(least_was_new, REDUCTION, false, APART, { float m = x(0); for (int i = 1; i < n; i++) { float h
     = 0.0f; if (x(i) < m) { m = x(i); h = 1.0f; } y(i) = h; } z(0) = m; })
LOOP(least_of_what_is_left, REDUCTION, false, APART, { float m = x(0); int at = 0; for (int i = 1; i
     < n; i++) { if (x(i) < m + 0.5f) { m = x(i); at = i; } } y(0) = m; y(1) = f32(at); })
LOOP(two_least, REDUCTION, false, APART, { float m = 50.0f; float s = 50.0f; for (int i = 0; i < n;
     i++) { if (x(i) < m) { s = m; m = x(i); } else if (x(i) < s) { s = x(i); } } y(0) = m; y(1) =
     s; })
LOOP(last_that_is, REDUCTION, true, APART, { int at = -1; float v = 0.5f; for (int i = 0; i < n;
     i++) { if (x(i) > 2.0f) { at = i; v = x(i) + y(i); } } z(0) = f32(at); z(1) = v; })
LOOP(last_and_next, REDUCTION, false, APART, { int at = 0; for (int i = 0; i < n; i++) { if (x(i) >
     2.0f) at = i; y(i) = f32(at); } })
LOOP(first_that_is, REDUCTION, false, APART, { int at = -1; for (int i = 0; i < n; i++) { if (at < 0
     && x(i) > 2.0f) at = i; } y(0) = f32(at); })
LOOP(turned_on_and_off, SERIAL, false, APART, { int f = 0; for (int i = 0; i < n; i++) { f = 1 - f;
     y(i) = f32(f); } })
LOOP(counted_into, INDIRECT, true, APART, { for (int i = 0; i < n; i++) { k(i % 4) += 1; } })
LOOP(counted_and_read, INDIRECT, false, APART, { for (int i = 0; i < n; i++) { k(i % 4) += 1; y(i) =
     f32(k(2)); } })
LOOP(cast_as_in_c, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { int q = (int)(x(i)*2.0f);
     y(i) = (float)q*0.5f + (float)i; } })
LOOP(cast_to_widths, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { y(i) =
     (float)((int64_t)k(i)*3 + (uint8_t)(k(i)*100)); k(i) = (int16_t)(k(i)*5000); } })
LOOP(compared_into, PARALLEL, true, APART, { for (int i = 0; i < n; i++) { y(i) = (x(i) > 2.0f) +
     2*(y(i) < 1.0f); } })
LOOP(into_an_element, REDUCTION, true, APART, { for (int i = 0; i < n; i++) { y(3) += x(i)*0.5f; }
     })
LOOP(into_elements, REDUCTION, true, APART, { for (int i = 0; i < n; i++) for (int j = 0; j < n;
     j++) { if (a(i, j) > 1.0f) y(n - 1) -= a(i, j); c(i, j) = a(i, j); } })
LOOP(into_a_matrix, REDUCTION, true, APART, { for (int i = 0; i < n; i++) { c(2, 3) += x(i); k(1) +=
     2; } })
LOOP(into_and_out_of, REDUCTION, false, APART, { for (int i = 0; i < n; i++) { y(3) += x(i); z(i) =
     y(3); } })
LOOP(into_what_is_read, REDUCTION, false, APART, { for (int i = 0; i < n; i++) { y(3) += y(i)*0.5f;
     } })
LOOP(into_what_is_not_there, REDUCTION, false, APART, { for (int i = 0; i < n; i++) { if (x(i) >
     1000.0f) y(n + 50) += x(i); z(i) = x(i); } })
LOOP(doubled_steps, SERIAL, false, APART, { for (int i = 1; i < n; i += i) { y(i) = x(i); y(i - 1) =
     z(i); } })
LOOP(bits_of_bool, REDUCTION, false, APART, { bool f = false; for (int i = 0; i < n; i++) { f ^= 2;
     } y(0) = f32(f); })
LOOP(folded_before_a_loop, INNER, true, APART, { int s = 3; for (int i = 0; i < n; i++) { s += k(i);
     for (int j = 0; j < n; j++) { c(i, j) = x(i)*y(j); } } z(0) = f32(s); })
LOOP(folded_before_a_triangle, INNER, true, APART, { int s = 3; for (int i = 0; i < n; i++) { s -=
     k(i); for (int j = i; j < n; j++) { c(i, j) = a(j, i); } } z(0) = f32(s); })
/* clang-format on */
