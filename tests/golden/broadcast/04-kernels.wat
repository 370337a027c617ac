;; mul
(func $mul (export "mul") (param $x i32) (param $row i32) (param $column i32) (param $mul i32) (param $from i32) (param $to i32) (param $stack i32)
  (local $i0 i32) (local $i14 i32) (local $atI0 i32) (local $atI0_0 i32) (local $atI14 i32) (local $v.5 v128) (local $v.6 v128) (local $columnAt v128) (local $v.8 v128) (local $atI0_1 i32) (local $atI0_2 i32) (local $i1 i32) (local $v.12 v128) (local $v.13 v128) (local $v.14 v128)
  (local.set $i0 (local.get $from))
  (if (i32.lt_s (local.get $i0) (local.get $to)) (then
    (loop $i0.loop
      (local.set $i14 (i32.const 0))
      (local.set $atI0 (i32.add (local.get $x) (i32.mul (local.get $i0) (i32.const 20))))
      (local.set $columnAt (v128.load32_splat (i32.add (local.get $column) (i32.shl (local.get $i0) (i32.const 2)))))
      (local.set $atI0_1 (i32.add (local.get $mul) (i32.mul (local.get $i0) (i32.const 20))))
      (loop $i14.loop
        (local.set $atI0_0 (i32.add (local.get $atI0) (i32.shl (local.get $i14) (i32.const 4))))
        (local.set $atI14 (i32.add (local.get $row) (i32.shl (local.get $i14) (i32.const 4))))
        (local.set $v.5 (v128.load (local.get $atI0_0)))
        (local.set $v.6 (v128.load (local.get $atI14)))
        (local.set $v.8 (f32x4.add (local.get $v.5) (local.get $v.6)))
        (local.set $atI0_2 (i32.add (local.get $atI0_1) (i32.shl (local.get $i14) (i32.const 4))))
        (v128.store (local.get $atI0_2) (f32x4.mul (local.get $v.8) (local.get $columnAt)))
        (br_if $i14.loop (i32.lt_s (local.tee $i14 (i32.add (local.get $i14) (i32.const 1))) (i32.const 1))))
      (local.set $i1 (i32.const 4))
      (loop $i1.loop
        (local.set $v.12 (v128.load32_splat (i32.add (local.get $atI0) (i32.shl (local.get $i1) (i32.const 2)))))
        (local.set $v.13 (v128.load32_splat (i32.add (local.get $row) (i32.shl (local.get $i1) (i32.const 2)))))
        (local.set $v.14 (f32x4.add (local.get $v.12) (local.get $v.13)))
        (v128.store32_lane 0 (i32.add (local.get $atI0_1) (i32.shl (local.get $i1) (i32.const 2))) (f32x4.mul (local.get $v.14) (local.get $columnAt)))
        (br_if $i1.loop (i32.lt_s (local.tee $i1 (i32.add (local.get $i1) (i32.const 1))) (i32.const 5))))
      (br_if $i0.loop (i32.lt_s (local.tee $i0 (i32.add (local.get $i0) (i32.const 1))) (local.get $to))))
  ))
)
