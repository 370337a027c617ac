/** Files that are dropped on a page, those of folders too. */

interface Entry {
  readonly isFile: boolean;
  readonly name: string;
  file?(give: (file: File) => void, fail: (error: Error) => void): void;
  createReader?(): {
    readEntries(give: (entries: Entry[]) => void, fail: (error: Error) => void): void;
  };
}

/** Must be called while the event is handled: afterwards its items are gone. */
export async function droppedFiles(transfer: DataTransfer): Promise<File[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry() as Entry | null);
  const all = await Promise.all(entries.map((entry) => (entry ? within(entry) : [])));
  return all.flat();
}

async function within(entry: Entry): Promise<File[]> {
  if (entry.isFile) return [await new Promise<File>((give, fail) => entry.file!(give, fail))];
  const reader = entry.createReader!();
  const found: File[] = [];
  for (;;) {
    // A reader gives a hundred at once, and none when it has given all.
    const some = await new Promise<Entry[]>((give, fail) => reader.readEntries(give, fail));
    if (!some.length) return found;
    for (const one of some) found.push(...(await within(one)));
  }
}
