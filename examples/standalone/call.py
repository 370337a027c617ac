"""The model of examples/precompile as a library of C, called from Python with nothing installed.

    npx kiln compile examples/precompile/model.ts --target native -o out/sentence
    make -C out/sentence
    python3 examples/standalone/call.py out/sentence 3 14 15
"""

import ctypes
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p


class Tensor(Structure):
    """What sentence.h calls sentence_tensor."""

    _fields_ = [
        ("name", c_char_p),
        ("dtype", c_char_p),
        ("element_bytes", c_size_t),
        ("rank", c_int),
        ("shape", c_char_p),
        ("id", c_int),
    ]


folder, words = sys.argv[1], [int(word) for word in sys.argv[2:]]
library = ctypes.CDLL(f"{folder}/libsentence.so")
library.sentence_create.restype = c_void_p
library.sentence_create.argtypes = [c_char_p]
library.sentence_run.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p]
library.sentence_free.argtypes = [c_void_p]
library.sentence_error.restype = c_char_p
library.sentence_output.restype = POINTER(Tensor)
library.sentence_shape.restype = c_int64

model = library.sentence_create(f"{folder}/sentence.weights".encode())
if not model:
    raise SystemExit(library.sentence_error().decode())
dims = (c_int64 * 1)(len(words))
output = library.sentence_output(0)
shape = (c_int64 * output.contents.rank)()
elements = library.sentence_shape(output, dims, shape)
x = (c_int32 * len(words))(*words)
y = (ctypes.c_float * elements)()
inputs = (c_void_p * 1)(ctypes.cast(byref(x), c_void_p))
outputs = (c_void_p * 1)(ctypes.cast(byref(y), c_void_p))
if library.sentence_run(model, dims, inputs, outputs) != 0:
    raise SystemExit(library.sentence_error().decode())
print(f"{len(words)} words: {' '.join(f'{chance:.3f}' for chance in y)}")
library.sentence_free(model)
