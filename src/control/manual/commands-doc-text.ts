export const GENERATED =
  "<!-- Written from the code: `PORTOLAN_REGENERATE=1 npx vitest run src/control/manual` writes it anew. -->";

export const COMMANDS_INTRODUCTION = `What runs is made, looked at, changed and removed by commands: typed at the console, sent by \`redis-cli\`, or over HTTP, where each of them is a path and a method. There is one table of commands for all three, and this page, \`man\`, completion and the OpenAPI document come from it.

\`\`\`
add upstream u0
add server-group g0 timeout 500 period 1000 up 2 down 3 method wrr
add server s1 to server-group g0 address 10.0.2.1:80 weight 10
add server-group g0 to upstream u0 weight 10
add tcp-lb lb0 address 0.0.0.0:80 upstream u0 protocol http
list-detail server in server-group g0
update server s1 in server-group g0 weight 0
\`\`\`

A command does all that it says or nothing. Commands run one after the other, and when one is answered, what it changed is kept and true on the data plane. Only what commands have made can be changed by them; what other sources own is listed with its owner. What something else uses is not removed (\`ERR_IN_USE\` says by whom); \`force-remove\` removes it all the same. What named it then leads nowhere until it is there again; only a server group goes out of the upstreams and services that commands have made, so that a new one of its name gets no traffic unasked.

Every command about a resource has this form:`;

export const WORDS = `- **Names.** \`NAME\` is in the namespace \`default\`; \`NAMESPACE/NAME\` names another one. \`list\` and \`list-detail\` take no name.
- **Places.** \`in\`, \`to\` and \`from\` all say where something is, the nearest first: \`in server s1 in server-group g0\`. Which of them is typed does not matter. Places and parameters may come in any order after the name.
- **Parameters** are a word and its value; flags are a word alone (or with \`true\` or \`false\`). \`add\` needs those that are **bold** below. \`update\` changes what is said and leaves the rest; an empty value (\`""\`) takes away what was there.
- **Values.** An address is \`HOST:PORT\` or \`[IPV6]:PORT\`, and where it is said below \`unix:PATH\` (\`sock:PATH\` is the same). A list has commas and no spaces between its entries. An object of texts is JSON: \`{"key":"value"}\`.
- **Quotes** go around values that have spaces or quotes in them, or are \`in\`, \`to\` or \`from\`; names have no spaces. \`"..."\` has the escapes of JSON (\`\\n\`, \`\\"\`, \`\\u00e9\`); in \`'...'\` only \`\\'\` and \`\\\\\` are escapes, so that patterns can be typed as they are. What begins with \`{\` is JSON up to the brace that closes it.
- **Lines.** One command a line, of at most 65,536 characters. A line that begins with \`#\` is a comment.
- **Mistakes** are all told at once (\`ERR_USAGE\`), each with its word, its value and what would be right; a word that is unknown is answered with the nearest one.

\`man\`, \`man RESOURCE\` and \`man RESOURCE ACTION\` print what this page says.`;

export const RESULTS = `Every command comes to one of these, whichever way it was given:

| result | of | console | RESP2 | RESP3 | \`POST /api/v1/command\` |
|---|---|---|---|---|---|
| done | \`add\`, \`update\`, \`remove\`, \`force-remove\`, \`save\`, \`load\`, \`shutdown\` | \`(done)\`, and a note where there is something to say | \`+OK\`, and the note | the same | \`{"kind":"done","note":""}\` |
| names | \`list\`, \`lookup\` | one a line | array of bulk strings | the same | \`{"kind":"names","names":["lb0"]}\` |
| records | \`list-detail\` | a table | array of bulk strings \`NAME -> key value ...\` | array of maps | \`{"kind":"records","records":[{"name":"lb0"}]}\` |
| number | \`list\` of \`bytes-in\`, \`bytes-out\`, \`accepted-conn-count\` | the digits | integer | integer | \`{"kind":"number","value":0}\` |
| text | \`man\`, \`help\`, \`version\`, \`list config\` | as it is | bulk string | verbatim string | \`{"kind":"text","text":"..."}\` |
| an error | what is refused or fails | its code and message, a problem a line | \`-ERR CODE message\` | the same | a status from 400 up, \`{"code":"ERR_USAGE","message":"...","problems":[...]}\` |

The paths of the HTTP API answer in their own way: a \`GET\` with the records as JSON, \`POST\` with 201, \`PUT\` and \`DELETE\` with 204 (200 where there is a note). The codes of errors are in [errors.md](errors.md).`;

export const SYSTEM = `They are about the instance itself; \`System:\` may stand before them. \`save\`, \`load\`, \`lookup\`, \`shutdown\` and the controllers are for the console: elsewhere they are refused (\`ERR_REFUSED\`) unless the instance allows them (\`--allow-system-commands\`).

What \`save\` writes and \`load\` reads is text, a command a line; \`load\` lines in it read other files. What no command has words for is written as a whole object, \`System: set {...}\`, which only \`load\` understands. \`load\` does all that a file says or nothing, adds to what is there, and lets names lead nowhere that are not there yet, with a note.`;
