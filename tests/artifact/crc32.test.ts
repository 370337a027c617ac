/** The checksum is the standard one, so that zip tools agree. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { crc32, crc32Text } from "../../packages/artifact/src/crc32.ts";

test("crc32 has its check value and is 0 for no bytes", () => {
  assert.is(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  assert.is(crc32Text(new Uint8Array(0)), "00000000");
});

test("crc32 by four bytes equals division bit by bit at every length", () => {
  for (let n = 0; n < 40; n++) {
    const bytes = Uint8Array.from({ length: n }, (_, i) => i * 151 + n);
    let c = 0xffffffff;
    for (const b of bytes) {
      c ^= b;
      for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    }
    assert.is(crc32(bytes), ~c >>> 0);
  }
});

test.run();
