/** Plain tables for terminals: columns padded, numbers to the right. */

/** Rows under a head, as lines. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const right = rows[0]!.map((_, i) =>
    rows.slice(1).every((row) => /^[-\d.,%]*$/.test(row[i] ?? "")),
  );
  return rows
    .map((row) =>
      row
        .map((cell, i) => (right[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
