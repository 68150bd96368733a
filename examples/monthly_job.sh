#!/bin/sh
# Score the files of a month, act on what is found, and keep a record.
#
#     monthly_job.sh FOLDER
#
# FOLDER has normal.csv, the rows to learn from, and incoming/, where new files arrive. Files without drift and without
# discoveries are learned and go to done/. The others go to review/, with a report beside them, and the exit code is 4.
set -u
cd "${1:?pass the folder of the job}" || exit 1
mkdir -p scores done review
[ -e model.eocc ] || eocc fit normal.csv -o model.eocc -q > scores/fit.txt || exit 1

found=0
for data in incoming/*.csv; do
    [ -e "$data" ] || continue # nothing came
    name=$(basename "$data" .csv)
    eocc score model.eocc "$data" -q --log-format json -o "scores/$name.csv" --fdr 0.1 \
        --summary "scores/$name.json" --fail-on drift,discoveries 2>> scores/log.jsonl
    case $? in
    0)
        eocc update model.eocc "$data" -o model.eocc -q > "scores/$name.txt" || exit 1
        mv "$data" done/
        ;;
    4)
        eocc report model.eocc --data "$data" -o "review/$name.html" -q || exit 1
        mv "$data" review/
        found=4
        ;;
    *)
        tail -n 1 scores/log.jsonl >&2
        exit 1
        ;;
    esac
done
exit "$found"
