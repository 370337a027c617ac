(func $gatherRows (export "gatherRows") (param $index i32) (param $table i32) (param $out i32) (param $N i32) (param $from i32) (param $to i32) (param $stack i32)
  (local $i i32) (local $v.1 v128) (local $v.2 v128) (local $row i32) (local $j i32) (local $atRow i32) (local $atI i32)
  (local.set $i (local.get $from))
  (if (i32.lt_s (local.get $i) (local.get $to)) (then
    (loop $i.loop
      (local.set $v.1 (v128.load32_splat (i32.add (local.get $index) (i32.shl (local.get $i) (i32.const 2)))))
      (local.set $v.2 (i32x4.max_s (local.get $v.1) (v128.const i32x4 0 0 0 0)))
      (local.set $row (i32x4.extract_lane 0 (i32x4.min_s (local.get $v.2) (v128.const i32x4 9 9 9 9))))
      (local.set $j (i32.const 0))
      (local.set $atRow (i32.add (local.get $table) (i32.shl (local.get $row) (i32.const 4))))
      (local.set $atI (i32.add (local.get $out) (i32.shl (local.get $i) (i32.const 4))))
      (loop $j.loop
        (v128.store32_lane 0 (i32.add (local.get $atI) (i32.shl (local.get $j) (i32.const 2))) (v128.load32_splat (i32.add (local.get $atRow) (i32.shl (local.get $j) (i32.const 2)))))
        (br_if $j.loop (i32.lt_s (local.tee $j (i32.add (local.get $j) (i32.const 1))) (i32.const 4))))
      (br_if $i.loop (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $to))))
  ))
)
