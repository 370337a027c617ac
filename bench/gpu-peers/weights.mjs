/** The parameters of the transformer block, in the order in which every peer's takes them; how one is made is the peer's own. */
export const blockWeights = ({ weight, dense }, width) => [
  weight(1, width),
  weight(2, width),
  ...[3, 5, 7, 9].flatMap((seed) => [dense(seed, width, width), weight(seed + 1, width)]),
  weight(11, width),
  weight(12, width),
  dense(13, 4 * width, width),
  weight(14, 4 * width),
  dense(15, width, 4 * width),
  weight(16, width),
];
