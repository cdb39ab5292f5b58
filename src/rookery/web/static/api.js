// How the page talks to the server.

async function answer(response) {
  const data = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  if (!response.ok) throw new Error(data.error);
  return data;
}

export async function get(path) {
  return answer(await fetch(`/api${path}`));
}

function request(method, body, signal) {
  return { method, signal, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

export async function post(path, body = {}) {
  return answer(await fetch(`/api${path}`, request("POST", body)));
}

export async function remove(path) {
  return answer(await fetch(`/api${path}`, request("DELETE", {})));
}

/** Server-sent events, one object each; aborting the signal ends the work on the server, too. */
export async function* stream(path, body, signal) {
  const response = await fetch(`/api${path}`, request("POST", body, signal));
  if (!response.ok) await answer(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      yield JSON.parse(text.slice(6, end));
      text = text.slice(end + 2);
    }
  }
}
