/**
 * Discrete Fourier transforms, spectra over time, and windows: `fft.rfft(x)`. No target has complex numbers: a complex tensor has a last axis
 * of 2, the real part and the imaginary one. Transforms are products, differentiable, on every target; lengths are numbers, batch
 * axes may be symbols.
 */
export { angle, complex, imag, magnitude, multiply, real } from "./complex.ts";
export { fourier, type TransformOptions } from "./fourier.ts";
export { type IstftOptions, istft, type StftOptions, stft } from "./frames.ts";
export { type FourierOptions, fft, ifft, irfft, rfft } from "./transforms.ts";
export { blackmanWindow, hammingWindow, hannWindow, type WindowKind } from "./window.ts";
