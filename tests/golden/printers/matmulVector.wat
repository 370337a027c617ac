(func $matmulVector (export "matmulVector") (param $a i32) (param $w i32) (param $out i32) (param $N i32) (param $from i32) (param $to i32) (param $stack i32)
  (local $i i32) (local $c i32) (local $s v128) (local $k i32) (local $atI i32) (local $atC i32) (local $atI0 i32) (local $atI1 i32)
  (local.set $i (local.get $from))
  (if (i32.lt_s (local.get $i) (local.get $to)) (then
    (loop $i.loop
      (local.set $c (i32.const 0))
      (local.set $atI (i32.add (local.get $a) (i32.mul (local.get $i) (i32.const 24))))
      (local.set $atI0 (i32.add (local.get $out) (i32.shl (local.get $i) (i32.const 5))))
      (loop $c.loop
        (local.set $s (v128.const f32x4 0 0 0 0))
        (local.set $k (i32.const 0))
        (local.set $atC (i32.add (local.get $w) (i32.shl (local.get $c) (i32.const 4))))
        (loop $k.loop
          (local.set $s (f32x4.madd (v128.load32_splat (i32.add (local.get $atI) (i32.shl (local.get $k) (i32.const 2)))) (v128.load (i32.add (local.get $atC) (i32.shl (local.get $k) (i32.const 5)))) (local.get $s)))
          (br_if $k.loop (i32.lt_s (local.tee $k (i32.add (local.get $k) (i32.const 1))) (i32.const 6))))
        (local.set $atI1 (i32.add (local.get $atI0) (i32.shl (local.get $c) (i32.const 4))))
        (v128.store (local.get $atI1) (local.get $s))
        (br_if $c.loop (i32.lt_s (local.tee $c (i32.add (local.get $c) (i32.const 1))) (i32.const 2))))
      (br_if $i.loop (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $to))))
  ))
)
