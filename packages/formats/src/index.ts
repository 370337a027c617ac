/**
 * File formats of others: safetensors, PyTorch and NumPy files, read and written.
 */
export {};
