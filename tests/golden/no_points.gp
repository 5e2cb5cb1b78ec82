# gnuplot -p THIS-FILE; for a picture first: set terminal pngcairo size 900,520; set output 'curve.png'
# Not a SPEC result. SPEC and SPECsfs are registered trademarks of the Standard Performance Evaluation Corporation; figures of nfscurve are not comparable with published SPECsfs results.
$points << END
# requested achieved response_ms ci95_ms p50_ms p90_ms p99_ms
 NaN NaN NaN NaN NaN NaN NaN
END
$invalid << END
# requested achieved response_ms ci95_ms p50_ms p90_ms p99_ms
 NaN NaN NaN NaN NaN NaN NaN
END
set encoding utf8
set title 'nfscurve curve' noenhanced
set xlabel 'throughput (ops/s)'
set ylabel 'response time (ms)'
set key top left
set grid
set xrange [0:*]
set yrange [0:*]
set xrange [0:1]
set yrange [0:1]
plot $points using 2:3 with linespoints linewidth 2 pointtype 7 linecolor rgb '#0b62b8' title 'mean' noenhanced
