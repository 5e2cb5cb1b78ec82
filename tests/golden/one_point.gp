# gnuplot -p THIS-FILE; for a picture first: set terminal pngcairo size 900,520; set output 'curve.png'
# Not a SPEC result. SPEC and SPECsfs are registered trademarks of the Standard Performance Evaluation Corporation; figures of nfscurve are not comparable with published SPECsfs results.
$points << END
# requested achieved response_ms ci95_ms p50_ms p90_ms p99_ms
 100 100 1 0.015625 0.875 1.5 3
END
$invalid << END
# requested achieved response_ms ci95_ms p50_ms p90_ms p99_ms
 NaN NaN NaN NaN NaN NaN NaN
END
set encoding utf8
set title 'Example Filer 1' noenhanced
set xlabel 'throughput (ops/s)'
set ylabel 'response time (ms)'
set key top left
set grid
set xrange [0:*]
set yrange [0:*]
set arrow from graph 0, first 20 to graph 1, first 20 nohead dashtype 2 linecolor rgb '#b42318'
plot $points using 2:6:7 with filledcurves fillcolor rgb '#0b62b8' fillstyle transparent solid 0.12 title 'p90 to p99', \
     $points using 2:5:6 with filledcurves fillcolor rgb '#0b62b8' fillstyle transparent solid 0.22 title 'p50 to p90', \
     $points using 2:3 with linespoints linewidth 2 pointtype 7 linecolor rgb '#0b62b8' title 'mean' noenhanced
