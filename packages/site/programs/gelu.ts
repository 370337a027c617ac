// A layer, its normalisation and an activation, compiled: how few kernels are left?
import { compile, nn, random, type Tensor } from "kiln-ml";

nn.seed(1);
const layer = new nn.Linear(256, 256);
const norm = new nn.LayerNorm(256);

const block = compile((x: Tensor) => x.add(layer.forward(norm.forward(x)).gelu()));

const x = await random.normal(random.key(7), [64, 256]).data();
const y = await block({ data: x, shape: [64, 256] });
console.log(y);
console.log("mean", await y.mean().item());
