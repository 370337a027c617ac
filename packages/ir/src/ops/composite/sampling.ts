/**
 * The parts that `interpolate` and `gridSample` are made of, for who reads images at computed places in other ways: under one name.
 */
export {
  beside,
  corners,
  cubicTaps,
  extentOf,
  linearTaps,
  type Sampled,
  type Tap,
  weighted,
} from "./places.ts";
export {
  coordinates,
  type Line,
  resampled,
  type Sampling,
  settled,
} from "./resample.ts";
