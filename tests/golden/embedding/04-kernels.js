// reduceSum
function reduceSum(ids, table, reduceSum) {
  let sum0 = 0;
  for (let r0 = 0; r0 < 3; r0++) {
    const idsAt = ids[r0];
    const at0 = Math.min(Math.max(idsAt < 0 ? (idsAt + 10) | 0 : idsAt, 0), 9);
    const atAt0 = at0 * 4;
    for (let r1 = 0; r1 < 4; r1++) {
      const tableAt = table[atAt0 + r1];
      sum0 += tableAt * tableAt;
    }
  }
  reduceSum[0] = sum0;
}

// scatter_sub
function scatter_sub(scatter, ids, table, sub) {
  for (let i0 = 0; i0 < 10; i0++) {
    const atI0 = i0 * 4;
    for (let i1 = 0; i1 < 4; i1++) {
      scatter[atI0 + i1] = 0;
    }
  }
  for (let s0 = 0; s0 < 3; s0++) {
    const idsAt = ids[s0];
    const t = idsAt < 0 ? (idsAt + 10) | 0 : idsAt;
    const to0 = Math.max(Math.min(t, 9), 0);
    const at0 = Math.min(Math.max(t, 0), 9);
    const size = to0 * 4;
    const atAt0 = at0 * 4;
    for (let i1 = 0; i1 < 4; i1++) {
      const atI1 = size + i1;
      const atI1_0 = atAt0 + i1;
      if (to0 >= 0 && to0 <= 9) {
        const tableAt = table[atI1_0];
        scatter[atI1] = scatter[atI1] + (tableAt + tableAt);
      }
    }
  }
  for (let i0 = 0; i0 < 10; i0++) {
    const atI0_0 = i0 * 4;
    for (let i1 = 0; i1 < 4; i1++) {
      sub[atI0_0 + i1] = table[atI0_0 + i1] - scatter[atI0_0 + i1] * 0.5;
    }
  }
}
