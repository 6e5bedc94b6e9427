/** Is /api.php answered by a program, honestly not there, or by something that only looks like an answer? */

import type { Reply } from "../ask.js";
import { type Check, type Finding, finding, header, shown } from "./check.js";

const PATH = "api.php";
const breaks = {
  absent: "clients that ask for a box, a region or a page need a server; whole exports work",
  looks: "clients take a page or a whole file for the answer to their question: it must be an answer, or 404",
  filter: "the filter is ignored: clients get other places than they asked for",
  old: "the program answers from another generation than the files",
  mistakes: "wrong questions are answered as if they were right",
} as const;

/** One question with one answer, one wrong question. */
export const endpoint: Check = async (copy) => {
  const reply = await copy.ask(`${PATH}?format=json&limit=1`);
  if (reply.status === 404 || reply.status === 410 || reply.status === 405)
    return [
      {
        about: "api.php",
        path: PATH,
        verdict: "absent",
        found: `status ${reply.status}`,
        breaks: breaks.absent,
      },
    ];
  if (reply.status >= 300 && reply.status < 400)
    return [
      {
        about: "api.php",
        path: PATH,
        verdict: "right",
        found: `status ${reply.status} to ${shown(header(reply, "location"))}`,
        breaks: "",
      },
    ];
  const records = recordsOf(reply);
  if (records === null) {
    const found = `status ${reply.status}, ${shown(header(reply, "content-type"))}`;
    return [
      finding("api.php", PATH, {
        isRight: false,
        found,
        breaks: breaks.looks,
        worst: reply.status === 200 ? "danger" : "broken",
      }),
    ];
  }
  const wrong = await copy.ask(`${PATH}?format=nonsense`);
  const wanted = Math.min(1, copy.manifest.count);
  const isFiltered = records.length === wanted;
  return [
    finding("api.php", PATH, {
      isRight: isFiltered,
      found: `${records.length} places for limit=1`,
      breaks: breaks.filter,
      worst: "danger",
    }),
    generation(reply, copy.manifest.count),
    finding("api.php, wrong question", PATH, {
      isRight: wrong.status === 400,
      found: `status ${wrong.status}`,
      breaks: breaks.mistakes,
      worst: "broken",
    }),
  ];
};

function generation(reply: Reply, count: number): Finding {
  const matched = header(reply, "ogc-numbermatched");
  const found = `${shown(matched)} places, ${count} in the manifest`;
  return finding("api.php, same places", PATH, {
    isRight: matched === String(count),
    found,
    breaks: breaks.old,
    worst: matched === "" ? "broken" : "danger",
  });
}

function recordsOf({ status, body }: Reply): readonly unknown[] | null {
  if (status !== 200) return null;
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
