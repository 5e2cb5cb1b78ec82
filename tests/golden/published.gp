# gnuplot -p THIS-FILE; for a picture first: set terminal pngcairo size 900,520; set output 'curve.png'
# Not a SPEC result. SPEC and SPECsfs are registered trademarks of the Standard Performance Evaluation Corporation; figures of nfscurve are not comparable with published SPECsfs results.
$points << END
# requested achieved response_ms ci95_ms p50_ms p90_ms p99_ms
 NaN 1027 0.8 NaN NaN NaN NaN
 NaN 2055 1.8 NaN NaN NaN NaN
 NaN 3086 2.6 NaN NaN NaN NaN
 NaN 4093 3.1 NaN NaN NaN NaN
 NaN 5139 2.3 NaN NaN NaN NaN
 NaN 6169 2.7 NaN NaN NaN NaN
 NaN 7196 3.4 NaN NaN NaN NaN
 NaN 8259 4.5 NaN NaN NaN NaN
 NaN 9389 11.8 NaN NaN NaN NaN
 NaN 10117 12 NaN NaN NaN NaN
 NaN 10305 12.2 NaN NaN NaN NaN
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
plot $points using 2:3 with linespoints linewidth 2 pointtype 7 linecolor rgb '#0b62b8' title 'mean' noenhanced
