/**
 * Who touched what among the invocations of a grid. Two that touch one element, of which one writes it, race unless they
 * are of one workgroup and met in between; workgroups never meet.
 */

/** An invocation, between two meetings of its workgroup; -1 where it was several. */
interface Turn {
  readonly workgroup: number;
  readonly lid: number;
  readonly since: number;
}

const several = -1;

export class Races {
  /** The first one found. */
  found: string | undefined;
  #workgroup = 0;
  #since = 0;
  readonly #writers = new Map<number[], Map<number, Turn>>();
  readonly #readers = new Map<number[], Map<number, Turn>>();

  /** Another workgroup begins. */
  begin(): void {
    this.#workgroup++;
    this.#since++;
  }

  /** All invocations of the workgroup have come to one statement. */
  meet(): void {
    this.#since++;
  }

  touch(lid: number, name: string, array: number[], at: number, how: "reads" | "writes"): void {
    const turn: Turn = { workgroup: this.#workgroup, lid, since: this.#since };
    const [writers, readers] = [of(this.#writers, array), of(this.#readers, array)];
    const [writer, reader] = [writers.get(at), readers.get(at)];
    const met = (other: Turn | undefined, what: string): void => {
      if (!other || isAfter(turn, other)) return;
      const where = other.workgroup === turn.workgroup ? "" : " of different workgroups";
      const who = other.lid === several ? "several" : other.lid;
      this.found ??= `${name}[${at}] is ${what}, by invocations ${who} and ${lid}${where}`;
    };
    met(writer, `written and ${how === "reads" ? "read" : "written"}`);
    if (how === "writes") {
      met(reader, "read and written");
      writers.set(at, turn);
    } else readers.set(at, reader ? both(reader, turn) : turn);
  }
}

const of = <K, V>(all: Map<K, Map<number, V>>, key: K): Map<number, V> => {
  const own = all.get(key) ?? new Map<number, V>();
  all.set(key, own);
  return own;
};

/** Whether what a turn does comes after what another did, in any order that a device may take. */
const isAfter = (turn: Turn, before: Turn): boolean =>
  turn.workgroup === before.workgroup && (turn.since !== before.since || turn.lid === before.lid);

/** All who read an element that nobody may write then. */
const both = (a: Turn, b: Turn): Turn => ({
  workgroup: a.workgroup === b.workgroup ? a.workgroup : several,
  lid: a.since === b.since && a.lid !== b.lid ? several : b.lid,
  since: b.since,
});
