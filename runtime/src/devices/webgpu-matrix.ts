/**
 * What matrix units a device has, which an adapter says apart from its features. The extension is
 * experimental: its text has changed before, so a unit counts only if a kernel of the text that
 * this version writes compiles here.
 */
export const matrixFeature = "chromium-experimental-subgroup-matrix";

interface MatrixConfig {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

/** As features: `subgroup-matrix-f16-f32-16x16x16-of-32`. */
export async function matrixUnitsOf(device: GPUDevice, info: GPUAdapterInfo): Promise<string[]> {
  const { subgroupMinSize, subgroupMaxSize, subgroupMatrixConfigs } = info as GPUAdapterInfo & {
    readonly subgroupMatrixConfigs?: Iterable<MatrixConfig>;
  };
  const has = device.features as ReadonlySet<string>;
  // A kernel that counts on matrices counts its subgroups too.
  if (!has.has(matrixFeature) || subgroupMinSize !== subgroupMaxSize) return [];
  const units = [...(subgroupMatrixConfigs ?? [])];
  const tried = units.find((u) => u.componentType === "f16" && u.resultComponentType === "f32");
  if (tried && has.has("shader-f16") && !(await compiles(device, textOf(tried)))) return [];
  return units.map(
    ({ componentType, resultComponentType, M, N, K }) =>
      `subgroup-matrix-${componentType}-${resultComponentType}-${M}x${N}x${K}-of-${subgroupMaxSize}`,
  );
}

/** One product of two matrices: all that kernels say of them. */
const textOf = ({ M, N, K }: MatrixConfig): string => `enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
var<workgroup> a: array<f16, ${M * K}>;
var<workgroup> b: array<f16, ${K * N}>;
var<workgroup> y: array<f32, ${M * N}>;
@compute @workgroup_size(256) fn main() {
  let l = subgroupMatrixLoad<subgroup_matrix_left<f16, ${K}, ${M}>, row_major>(&a, 0u, ${K}u);
  let r = subgroupMatrixLoad<subgroup_matrix_right<f16, ${N}, ${K}>, col_major>(&b, 0u, ${K}u);
  var s: subgroup_matrix_result<f32, ${N}, ${M}>;
  s = subgroupMatrixMultiplyAccumulate(l, r, s);
  subgroupMatrixStore<row_major>(&y, 0u, s, ${N}u);
}`;

async function compiles(device: GPUDevice, code: string): Promise<boolean> {
  device.pushErrorScope("validation");
  device.createShaderModule({ code });
  return (await device.popErrorScope()) === null;
}
