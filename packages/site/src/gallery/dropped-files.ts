/** Files that are dropped on a page, by their paths: those of folders too. */

interface Entry {
  readonly isFile: boolean;
  readonly name: string;
  file?(give: (file: File) => void, fail: (error: Error) => void): void;
  createReader?(): {
    readEntries(give: (entries: Entry[]) => void, fail: (error: Error) => void): void;
  };
}

/**
 * Files by their paths in the folder that is dropped, or by name. Must be called while the event is
 * handled: afterwards its items are gone.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<Map<string, File>> {
  const entries = [...transfer.items].flatMap(
    (item) => (item.webkitGetAsEntry() as Entry | null) ?? [],
  );
  // One folder is the model's: its name is none of the files'.
  const [only] = entries;
  const isFolder = entries.length === 1 && only !== undefined && !only.isFile;
  const roots = isFolder ? await listed(only) : entries;
  return new Map((await Promise.all(roots.map((entry) => within(entry, "", 1)))).flat());
}

/** `depth` more folders are opened: a model has none below those beside its weights. */
async function within(entry: Entry, before: string, depth: number): Promise<[string, File][]> {
  const path = before + entry.name;
  if (entry.isFile)
    return [[path, await new Promise<File>((give, fail) => entry.file!(give, fail))]];
  if (depth === 0) return [];
  const inside = (await listed(entry)).map((one) => within(one, `${path}/`, depth - 1));
  return (await Promise.all(inside)).flat();
}

async function listed(entry: Entry): Promise<Entry[]> {
  const reader = entry.createReader!();
  const found: Entry[] = [];
  for (;;) {
    // A reader gives a hundred at once, and none when it has given all.
    const some = await new Promise<Entry[]>((give, fail) => reader.readEntries(give, fail));
    if (!some.length) return found;
    found.push(...some);
  }
}
