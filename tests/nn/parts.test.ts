/**
 * What a module has: parameters and modules in any field are found, or the field is named; what is thrown inside of a module says where;
 * what is frozen stays; what cannot be copied says so.
 */
import {
  GraphError,
  input,
  KilnError,
  param,
  ShapeError,
  type Tensor,
  tensor,
  trace,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";

const x = input("x", "f32", [2, 3]);

const thrown = (run: () => unknown): Error => {
  try {
    run();
  } catch (e) {
    return e as Error;
  }
  throw new Error("nothing was thrown");
};

class Kept extends nn.Module {
  readonly byName = new Map<string, nn.Module | Tensor>([
    ["a", new nn.Linear(3, 3)],
    ["b", param(tensor([1, 2, 3]))],
  ]);
  readonly many = new Set([
    new nn.Linear(3, 3, { bias: false }),
    new nn.Linear(3, 3, { bias: false }),
  ]);
  readonly deep = { list: [new Map([[7, new Set([new nn.Linear(3, 3, { bias: false })])]])] };
  readonly bare = Object.assign(Object.create(null), { c: param(tensor([1])) }) as { c: Tensor };
  override forward(y: Tensor): Tensor {
    let t = (this.byName.get("a") as nn.Linear).forward(y).mul(this.byName.get("b") as Tensor);
    for (const m of this.many) t = m.forward(t);
    for (const m of this.deep.list[0]!.get(7)!) t = m.forward(t);
    return t.mul(this.bare.c);
  }
}

test("maps, sets and records without a prototype are looked into, at any depth", () => {
  const net = new Kept();
  assert.equal([...net.namedParameters().keys()].sort(), [
    "bare.c",
    "byName.a.bias",
    "byName.a.weight",
    "byName.b",
    "deep.list.0.7.0.weight",
    "many.0.weight",
    "many.1.weight",
  ]);
  net.forward(x);
});

test("a record that holds itself is looked into once", () => {
  class Round extends nn.Module {
    readonly part: { fc: nn.Linear; self?: unknown } = { fc: new nn.Linear(3, 1) };
    override forward(y: Tensor): Tensor {
      return this.part.fc.forward(y);
    }
  }
  const net = new Round();
  net.part.self = net.part;
  assert.equal([...net.state().keys()], ["part.fc.weight", "part.fc.bias"]);
});

test("two parameters of one name are refused", () => {
  class Twice extends nn.Module {
    readonly a = new Map<string | number, Tensor>([
      ["0", param(tensor([1]))],
      [0, param(tensor([2]))],
    ]);
    override forward(y: Tensor): Tensor {
      return y;
    }
  }
  assert.is(
    thrown(() => new Twice().state()).message,
    "module: Twice has two parameters called a.0",
  );
});

const remedy =
  "keep parameters and modules in public fields, or in lists, records, maps and sets there";

class Secret extends nn.Module {
  readonly #fc = new nn.Linear(3, 3);
  readonly scale = param(tensor([1]));
  override forward(y: Tensor): Tensor {
    return this.#fc.forward(y).mul(this.scale);
  }
}
class SecretWeight extends nn.Module {
  #w = param(tensor([1, 2, 3]), { name: "w" });
  override forward(y: Tensor): Tensor {
    return y.mul(this.#w);
  }
}
class Holder {
  readonly fc: nn.Linear;
  constructor(fc: nn.Linear) {
    this.fc = fc;
  }
}
class InObject extends nn.Module {
  readonly held = new Holder(new nn.Linear(3, 3));
  override forward(y: Tensor): Tensor {
    return this.held.fc.forward(y);
  }
}
class Outer extends nn.Module {
  readonly inner = new SecretWeight();
  override forward(y: Tensor): Tensor {
    return this.inner.forward(y);
  }
}

for (const [name, make, message] of [
  [
    "a module in a private field",
    () => new Secret(),
    `Secret: forward uses the Linear, which parameters() does not find: nobody can look into #fc\n  ${remedy}`,
  ],
  [
    "a parameter in a private field",
    () => new SecretWeight(),
    `SecretWeight: forward uses the parameter w f32[3], which parameters() does not find: nobody can look into #w\n  ${remedy}`,
  ],
  [
    "a private parameter of a part",
    () => new Outer(),
    `SecretWeight: forward uses the parameter w f32[3], which parameters() does not find: nobody can look into #w\n  ${remedy}`,
  ],
  [
    "a module in an object of another class",
    () => new InObject(),
    `InObject: forward uses the Linear, which parameters() does not find: nobody can look into held\n  ${remedy}`,
  ],
] as const)
  test(`${name} is told with the field, by the first forward`, () => {
    const e = thrown(() => trace(() => make().forward(x)));
    assert.instance(e, GraphError);
    assert.is(e.message, message);
  });

test("what a module is handed, and what is not its own, is no reason to complain", () => {
  const teacher = new nn.Linear(3, 3);
  class Student extends nn.Module {
    readonly #width = 3;
    readonly fc = new nn.Linear(this.#width, 3);
    override forward(y: Tensor, w: Tensor): Tensor {
      return this.fc.forward(y).sub(teacher.forward(y)).mul(w);
    }
  }
  const student = new Student();
  const w = param(tensor([1, 2, 3]));
  assert.equal(student.forward(x, w).shape, [2, 3]);
});

class Block extends nn.Module {
  readonly fc = [new nn.Linear(3, 3), new nn.Linear(4, 3)];
  override forward(y: Tensor): Tensor {
    return this.fc.reduce((t, m) => m.forward(t), y);
  }
}
class Net extends nn.Module {
  readonly blocks = new Map([["first", new Block()]]);
  override forward(y: Tensor): Tensor {
    return this.blocks.get("first")!.forward(y);
  }
}

test("an error inside of nested modules carries the path once, and its class", () => {
  const plain = thrown(() => new nn.Linear(4, 3).forward(x));
  const net = new Net();
  for (const at of [1, 2]) {
    const e = thrown(() => net.forward(x));
    assert.instance(e, ShapeError, `call ${at}`);
    const [first, ...rest] = plain.message.split("\n");
    assert.is(e.message, [`${first} (in blocks.first.fc.1)`, ...rest].join("\n"));
    assert.ok(e.stack!.includes(e.message));
  }
  assert.not.match(thrown(() => new nn.Linear(4, 3).forward(x)).message, /\(in /);
});

test("what is no error of Kiln passes as it is", () => {
  class Failing extends nn.Module {
    readonly part = new nn.Lambda(() => {
      throw new RangeError("mine");
    });
    override forward(y: Tensor): Tensor {
      return this.part.forward(y);
    }
  }
  assert.is(thrown(() => new Failing().forward(x)).message, "mine");
});

test("a layer that does not fit into a Sequential is told with its place", () => {
  const e = thrown(
    () =>
      new nn.Sequential(
        new nn.Input([3]),
        new nn.Linear(3, 2),
        new nn.Sequential(new nn.ReLU(), new nn.Linear(5, 1)),
      ),
  );
  assert.instance(e, ShapeError);
  assert.match(e.message.split("\n")[0]!, / \(in 1\.1\)$/);
});

test("a recurrent layer in a Sequential hands on its y, and sizes are known after it", () => {
  const net = new nn.Sequential(new nn.Input([5, 3]), new nn.LSTM(3, 4), new nn.Dense(2));
  assert.equal(net.outputShape, [5, 2]);
  assert.equal([...net.namedParameters().keys()].slice(-2), ["1.weight", "1.bias"]);
  const late = new nn.Sequential(new nn.GRU(3, 4), new nn.ReLU(), new nn.Dense(2));
  assert.equal(late.forward(input("s", "f32", [2, "T", 3])).rank, 3);
});

test("a layer of a Sequential that gives no tensor is told", () => {
  class Pair extends nn.Module {
    override forward(y: Tensor): Tensor[] {
      return [y, y];
    }
  }
  assert.is(
    thrown(() => new nn.Sequential(new Pair() as never).forward(x)).message,
    "sequential: layer 0 (Pair) must give a tensor, got Array\n  write a module whose forward takes that result apart",
  );
  assert.is(
    thrown(() => new nn.Sequential(null as never)).message,
    "sequential: entry 0 must be a layer, an Input or a function, got null\n  it takes no options: layers have their own, and compile has the target",
  );
});

const moved = (step: () => void): Set<string> =>
  new Set([...trace(step).updates.keys()].map((t) => String(t.attrs.name)));

test("freezing after the optimizer was made takes effect, on the parameter and its state, and unfreezing too", () => {
  const net = new Block();
  net.fc.pop();
  const other = new nn.Linear(3, 3);
  const opt = new optim.Adam([...net.parameters(), ...other.parameters()], {
    lr: 1,
    weightDecay: 0.1,
    clipNorm: 1,
  });
  const loss = () => other.forward(net.forward(x)).sum();
  const all = moved(() => opt.step(loss()));
  net.freeze();
  const fewer = moved(() => opt.step(loss()));
  assert.ok([...fewer].every((name) => !name.includes("fc.0")));
  assert.is(fewer.size, all.size - 4);
  // Gradients that are handed over do not move what is frozen either.
  assert.equal(
    moved(() => opt.apply(opt.params)),
    fewer,
  );
  net.unfreeze();
  assert.equal(
    moved(() => opt.step(loss())),
    all,
  );
});

test("a parameter that does not reach the loss is skipped, and told once", () => {
  const [used, unused] = [
    param(tensor([1]), { name: "used" }),
    param(tensor([1]), { name: "unused" }),
  ];
  const opt = new optim.Adam([used, unused], { lr: 1, weightDecay: 0.1 });
  const { warn } = console;
  const told: string[] = [];
  console.warn = (text: string) => told.push(text);
  try {
    for (const _ of [1, 2]) assert.ok(!moved(() => opt.step(used.sum())).has("unused"));
  } finally {
    console.warn = warn;
  }
  assert.equal(told, ["adam: unused does not reach the loss, and stays as before"]);
  assert.ok([...opt.checkpoint().keys()].some((name) => name.startsWith("adam.unused")));
});

test("structuredClone of a module or a parameter says what to do", () => {
  for (const what of [new nn.Linear(2, 2), new Kept(), param(tensor([1]))]) {
    const e = thrown(() => structuredClone(what));
    assert.instance(e, KilnError);
    assert.is(
      e.message,
      "structuredClone: parameters and modules cannot be copied by it\n  make a second module, and call load(first.weights) on it",
    );
  }
});

test.run();
