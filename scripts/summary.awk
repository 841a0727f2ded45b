# Reads CTest's LastTest.log and prints how many tests ran on each device, and what did not run.

function row(title, group) {
    if (group in files)
        printf "%-22s %8d %8d %8d\n", title, passed[group], failed[group], skipped[group]
}
/^[0-9]+\/[0-9]+ Test: / {
    entry = $3
    group = entry
    if (!sub(/.*@/, "", group)) group = "tree"
    if (!(group in files)) order[++groups] = group
    files[group]++
}
/^[0-9]+ passed, [0-9]+ failed$/ {
    passed[group] += $1
    failed[group] += $3
    finished[entry] = 1
}
/^Test Passed\.$/ { if (!finished[entry]) { passed[group]++; finished[entry] = 1 } }
/^Test Failed\.$|^Test Timeout\.$|^Test time = .*exceeded|^\*\*\*/ { broken[entry] = 1 }
/^skipped: / {
    skipped[group]++
    name = reason = substr($0, 10)
    sub(/: .*/, "", name)
    sub(/^[^:]*: /, "", reason)
    reason = "(" group ") " reason
    if (many[reason]++) names[reason] = names[reason] ", " name
    else {
        reasons[++reasons_count] = reason
        names[reason] = name
    }
}
/, then the time was up/ { late++ }
/; note: [0-9]+ ended/ { notes++ }
END {
    printf "%-22s %8s %8s %8s\n", "tests", "passed", "failed", "skipped"
    for (i = 1; i <= groups; i++)
        if (order[i] != "tree" && order[i] != "faults") row("on " order[i], order[i])
    row("failing allocations", "faults")
    row("tree and examples", "tree")
    for (entry in broken) print (finished[entry] ? "failed:  " : "did not end well:  ") entry
    if (reasons_count > 0) print "skipped:"
    for (i = 1; i <= reasons_count; i++) {
        reason = reasons[i]
        print "  " (many[reason] > 2 ? many[reason] " tests" : names[reason]) " " reason
    }
    if (late) printf "the time was up before every allocation had failed in %d tests (WEFT_TEST_FAULTS_SECONDS)\n", late
}
