/**
 * Metrics. Those of tensors are graph: their sums are state of the step. Those of texts, and `…Of`, are computed on the host.
 */
export {
  type Average,
  type AverageOptions,
  accuracy,
  confusionMatrix,
  f1,
  fBeta,
  hammingScore,
  precision,
  recall,
  type ThresholdOptions,
  topK,
} from "./classification.ts";
export { dice, iou, msSsim, type OverlapOptions, type SsimOptions, ssim } from "./images.ts";
export {
  auroc,
  aurocOf,
  averagePrecision,
  averagePrecisionOf,
  type RankingOptions,
} from "./ranking.ts";
export {
  mae,
  mean,
  mse,
  type PerplexityOptions,
  type PsnrOptions,
  perplexity,
  psnr,
  r2,
  rmse,
} from "./regression.ts";
export { bleu, cer, rougeL, type Text, type TextMetric, wer } from "./text.ts";
