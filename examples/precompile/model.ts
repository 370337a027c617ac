/**
 * A model for `kiln compile`: the export `model` names a function and the types of its inputs. T is a symbol, so one
 * artifact takes sentences of every length.
 */
import { nn, type Tensor } from "kiln-ml";

nn.seed(1);
const embedding = new nn.Embedding(100, 16);
const classes = new nn.Linear(16, 3);

export const model = {
  name: "sentence",
  fn: (words: Tensor) => classes.forward(embedding.forward(words).mean([0])).softmax(-1),
  inputs: [{ shape: ["T"], dtype: "i32", name: "words" }],
};
