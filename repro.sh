for n in 1 2 3; do
/work/bindbg/oversell run --strategy at@sql+sql,half-message@sql+sql,tcc@redis+sql,saga@redis+sql --threat rolling-replacement,retrying-proxy,paused-holder,reconciler-killed,store-silent,redis-restart,second-instance --repeat 6 --results /tmp/exp/repro$n > /tmp/exp/repro$n.txt 2>&1
done
