/**
 * Counts of what was served, as the text that Prometheus reads.
 *
 * Format: prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4.
 */

type Labels = Readonly<Record<string, string | number>>;

interface Family {
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
}

// biome-ignore format: one family a row
const families = {
  kiln_requests_total:         { type: "counter",   help: "Requests answered, by route and status." },
  kiln_request_seconds:        { type: "histogram", help: "Time from a request to its answer, or to the first event of a stream." },
  kiln_queue_waiting:          { type: "gauge",     help: "Requests that wait for the model." },
  kiln_running:                { type: "gauge",     help: "Requests that the model works on." },
  kiln_prompt_tokens_total:    { type: "counter",   help: "Tokens of prompts." },
  kiln_prompt_tokens_ran_total:{ type: "counter",   help: "Tokens of prompts that were not known from the text before." },
  kiln_completion_tokens_total:{ type: "counter",   help: "Tokens made." },
  kiln_first_token_seconds:    { type: "histogram", help: "Time from a request's turn to its first text." },
  kiln_aborted_total:          { type: "counter",   help: "Requests whose client went away." },
  kiln_runs_total:             { type: "counter",   help: "Runs of the model." },
  kiln_rows_total:             { type: "counter",   help: "Rows of all runs: rows of requests that ran together." },
} as const satisfies Record<string, Family>;

export type MetricName = keyof typeof families;

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const labelText = (labels: Labels): string => {
  const parts = Object.entries(labels).map(
    ([k, v]) => `${k}="${String(v).replace(/[\\"\n]/g, (c) => (c === "\n" ? "\\n" : `\\${c}`))}"`,
  );
  return parts.length ? `{${parts.join(",")}}` : "";
};

export class Metrics {
  /** Samples by the text of their name and labels. */
  readonly #samples = new Map<MetricName, Map<string, number>>();
  readonly #gauges = new Map<MetricName, () => number>();

  add(name: MetricName, by = 1, labels: Labels = {}): void {
    this.#count(name, name + labelText(labels), by);
  }

  /** A value that is asked for when the text is written. */
  gauge(name: MetricName, read: () => number): void {
    this.#gauges.set(name, read);
  }

  /** A duration in seconds, of a histogram. */
  observe(name: MetricName, seconds: number): void {
    for (const le of [...bounds, "+Inf"] as const)
      this.#count(
        name,
        `${name}_bucket${labelText({ le })}`,
        seconds <= Number(le) || le === "+Inf" ? 1 : 0,
      );
    this.#count(name, `${name}_sum`, seconds);
    this.#count(name, `${name}_count`, 1);
  }

  #count(name: MetricName, sample: string, by: number): void {
    const all = this.#samples.get(name) ?? new Map<string, number>();
    this.#samples.set(name, all);
    all.set(sample, (all.get(sample) ?? 0) + by);
  }

  text(): string {
    const lines = Object.entries(families).flatMap(([name, { type, help }]) => {
      const gauge = this.#gauges.get(name as MetricName);
      const samples = gauge
        ? [[name, gauge()] as const]
        : [...(this.#samples.get(name as MetricName) ?? [])];
      if (samples.length === 0) return [];
      return [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(([sample, value]) => `${sample} ${value}`),
      ];
    });
    return `${lines.join("\n")}\n`;
  }
}
