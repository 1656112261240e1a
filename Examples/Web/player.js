// Plays video on demand in a browser: fragmented MP4, encrypted with cbcs, by Media Source Extensions and Clear Key.
//
// The page requests the keys from the license server, and again whenever the server says so. A refusal ends playback.
'use strict';

const keySystem = 'org.w3.clearkey';
// The number of seconds of media loaded ahead.
const secondsAhead = 30;
// The delay before a failed request is repeated, and the maximum number of repetitions.
const retrySeconds = 5;
const mostRetries = 3;

// Playlists

// The attributes of a tag: `METHOD=SAMPLE-AES,URI="skd://…"`.
function attributes(list) {
  const result = {};
  for (const [, name, quoted, plain] of list.matchAll(/([A-Z0-9-]+)=(?:"([^"]*)"|([^,]*))/g)) result[name] = quoted ?? plain;
  return result;
}

// The key ID at the end of a key URI (UUID, hexadecimal digits or base64), in base64url without padding.
function keyID(uri) {
  const name = decodeURIComponent(uri.replace(/^[a-z]+:\/\//, ''));
  const digits = name.split('/').pop().replaceAll('-', '');
  const base64 = /^[0-9a-f]{32}$/i.test(digits)
    ? btoa(String.fromCharCode(...digits.match(/../g).map((pair) => parseInt(pair, 16))))
    : name;
  if (!/^[A-Za-z0-9+/_-]{22}(==)?$/.test(base64)) throw new Error(`The key URI ${uri} does not end with a key ID.`);
  return base64.replace('==', '').replaceAll('+', '-').replaceAll('/', '_');
}

// A key ID as a readable UUID.
function uuid(bytes) {
  const digits = Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

async function loadLines(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} is not there: status ${response.status}.`);
  return (await response.text()).split(/\r?\n/);
}

// The tracks of a stream: the first video track, and its audio if separate, with their segments and key IDs.
async function loadTracks(url) {
  const lines = await loadLines(url);
  const index = lines.findIndex((line) => line.startsWith('#EXT-X-STREAM-INF:'));
  if (index < 0) throw new Error(`${url} is not a main playlist.`);
  const variant = attributes(lines[index]);
  const codecs = (variant.CODECS ?? '').split(',');
  const isSound = (codec) => /^(mp4a|ac-3|ec-3|opus|fLaC)/.test(codec);
  const media = lines.filter((line) => line.startsWith('#EXT-X-MEDIA:')).map(attributes);
  const sound = media.find((line) => line.TYPE === 'AUDIO' && line['GROUP-ID'] === variant.AUDIO && line.URI);
  const tracks = [loadTrack('picture', 'video/mp4', codecs.filter((codec) => !sound || !isSound(codec)), lines[index + 1], url)];
  if (sound) tracks.push(loadTrack('sound', 'audio/mp4', codecs.filter(isSound), sound.URI, url));
  return Promise.all(tracks);
}

async function loadTrack(name, container, codecs, path, base) {
  const url = new URL(path, base);
  const track = { name, type: `${container}; codecs="${codecs.join(',')}"`, initialization: null, segments: [], keys: new Map() };
  let [seconds, time] = [0, 0];
  for (const line of await loadLines(url)) {
    if (line.startsWith('#EXT-X-MAP:')) track.initialization = new URL(attributes(line).URI, url);
    if (line.startsWith('#EXTINF:')) seconds = parseFloat(line.slice(8));
    if (line.startsWith('#EXT-X-KEY:')) {
      const key = attributes(line);
      if (key.KEYFORMAT === 'com.apple.streamingkeydelivery') track.keys.set(keyID(key.URI), `${name} from ${time.toFixed(0)} s`);
    }
    if (line === '' || line.startsWith('#')) continue;
    track.segments.push({ url: new URL(line, url), time });
    time += seconds;
  }
  if (!track.initialization) throw new Error(`${url} is not of fragmented MP4, which is all that this page plays.`);
  return track;
}

// Media

function once(target, name, signal) {
  const event = new Promise((resolve, reject) => {
    target.addEventListener(name, resolve, { once: true, signal });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  // The waiting code receives the rejection; without a waiter it must not count as unhandled.
  event.catch(() => {});
  return event;
}

async function append(track, source, video, signal) {
  const buffer = source.addSourceBuffer(track.type);
  for (const { url, time } of [{ url: track.initialization, time: 0 }, ...track.segments]) {
    while (time > video.currentTime + secondsAhead) await once(video, 'timeupdate', signal);
    const response = await fetch(url, { signal });
    if (!response.ok) throw new Error(`${url} is not there: status ${response.status}.`);
    const done = once(buffer, 'updateend', signal);
    buffer.appendBuffer(await response.arrayBuffer());
    await done;
  }
}

async function feed(tracks, source, video, signal) {
  await once(source, 'sourceopen', signal);
  await Promise.all(tracks.map((track) => append(track, source, video, signal)));
  if (source.readyState === 'open') source.endOfStream();
}

// Keys

// A license server's refusal.
class Refusal extends Error {
  constructor(status, words, retryAfter) {
    super(words.reason ?? `The server answers with status ${status}.`);
    this.status = status;
    this.words = words;
    this.retryAfter = retryAfter;
  }

  get isPassing() { return this.status === 429 || this.status >= 500; }
}

async function askForKeys(setup, token, message) {
  const response = await fetch(setup.licenseURL, {
    method: 'POST',
    headers: { 'Authorization': `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: message,
  });
  const body = await response.text();
  if (!response.ok) {
    let words = {};
    try { words = JSON.parse(body).error ?? {}; } catch { /* A proxy's page, for instance. */ }
    throw new Refusal(response.status, words, Number(response.headers.get('Retry-After')) || undefined);
  }
  const seconds = (name) => Number(response.headers.get(name)) || undefined;
  return {
    keys: new TextEncoder().encode(body),
    renewAfter: seconds('X-Latchkey-Renew-After'),
    heartbeat: seconds('X-Latchkey-Heartbeat'),
    heartbeatToken: response.headers.get('X-Latchkey-Heartbeat-Token'),
  };
}

// Playback of one stream as one viewer.
class Playback {
  constructor(setup, token, video, view) {
    Object.assign(this, { setup, token, video, view });
    this.abort = new AbortController();
  }

  async start(url) {
    const { signal } = this.abort;
    const tracks = await loadTracks(url);
    const capabilities = (container) => tracks.filter((track) => track.type.startsWith(container))
      .map((track) => ({ contentType: track.type, encryptionScheme: 'cbcs' }));
    const access = await navigator.requestMediaKeySystemAccess(keySystem, [{
      initDataTypes: ['keyids'], videoCapabilities: capabilities('video'), audioCapabilities: capabilities('audio'),
    }]);
    const mediaKeys = await access.createMediaKeys();
    await this.video.setMediaKeys(mediaKeys);
    if (signal.aborted) return;
    this.session = mediaKeys.createSession('temporary');
    this.session.addEventListener('keystatuseschange', () => this.view.showStates(this.session.keyStatuses));
    const keys = new Map(tracks.flatMap((track) => [...track.keys]));
    this.view.showKeys(keys);
    const asked = once(this.session, 'message', signal);
    await this.session.generateRequest('keyids', new TextEncoder().encode(JSON.stringify({ kids: [...keys.keys()] })));
    // Every renewal sends the browser's first message again.
    this.message = (await asked).message;
    if (!await this.renew()) return;
    const source = new MediaSource();
    this.address = URL.createObjectURL(source);
    this.video.src = this.address;
    const fed = feed(tracks, source, this.video, signal);
    fed.catch((error) => this.fail(error));
    this.video.addEventListener('error', () => this.fail(new Error(this.video.error.message)), { signal });
    // If the browser blocks autoplay, or the viewer pauses immediately, the viewer starts playback.
    await this.video.play().catch(() => {});
  }

  // Requests the keys. Returns whether playback continues.
  async renew(retries = 0) {
    clearTimeout(this.timer);
    try {
      const answer = await askForKeys(this.setup, this.token, this.message);
      if (this.abort.signal.aborted) return false;
      await this.session.update(answer.keys);
      this.heartbeatToken = answer.heartbeatToken ?? this.heartbeatToken;
      this.beat(answer.heartbeat);
      this.plan(answer.renewAfter, 0);
      this.view.showLicense(answer.renewAfter);
      return true;
    } catch (error) {
      if (this.abort.signal.aborted) return false;
      const isPassing = error instanceof Refusal ? error.isPassing : error instanceof TypeError;
      if (!isPassing || retries >= mostRetries || !this.video.src) {
        await this.fail(error);
        return false;
      }
      const wait = error.retryAfter ?? retrySeconds;
      this.plan(wait, retries + 1);
      this.view.showTrouble(error, wait);
      return true;
    }
  }

  plan(seconds, retries) {
    if (seconds) this.timer = setTimeout(() => this.renew(retries), seconds * 1000);
  }

  // Sends heartbeats, if the server counts sessions by them.
  beat(seconds) {
    clearInterval(this.beats);
    if (!seconds || !this.heartbeatToken) return;
    this.beats = setInterval(async () => {
      const response = await fetch(`${this.setup.sessionsURL}/heartbeat`, this.sessionRequest('POST')).catch(() => null);
      if (response?.status === 403) this.renew();
    }, seconds * 1000);
  }

  sessionRequest(method) {
    return { method, headers: { 'Authorization': `Bearer ${this.heartbeatToken}` }, keepalive: true };
  }

  async fail(error) {
    if (this.abort.signal.aborted) return;
    await this.stop();
    this.view.showEnd(error);
  }

  // Frees the slot for the viewer's next stream. Without this, the session ends after its last heartbeat.
  async giveBack() {
    try {
      const response = await fetch(this.setup.sessionsURL, this.sessionRequest('DELETE'));
      if (!response.ok) throw new Error(`The server answers with status ${response.status}.`);
    } catch (error) {
      console.error('The session was not released, and will expire.', error);
    }
  }

  // Ends playback, discards the keys, and releases the session.
  async stop() {
    if (this.abort.signal.aborted) return;
    this.abort.abort(new DOMException('Playback was stopped.', 'AbortError'));
    clearTimeout(this.timer);
    clearInterval(this.beats);
    this.video.pause();
    this.video.removeAttribute('src');
    this.video.load();
    if (this.address) URL.revokeObjectURL(this.address);
    if (this.heartbeatToken) this.giveBack();
    await this.session?.close().catch(() => {});
    await this.video.setMediaKeys(null).catch(() => {});
  }
}

// The page

const element = (id) => document.getElementById(id);

const view = {
  rows: new Map(),

  state(name) { document.body.dataset.state = name; },

  reset() {
    element('refusal').hidden = true;
    element('next').hidden = true;
    element('keys').replaceChildren();
    this.rows.clear();
    element('status').textContent = 'The page asks the server for keys.';
    this.state('asking');
  },

  playing(isPlaying) {
    element('again').disabled = !isPlaying;
    element('stop').disabled = !isPlaying;
  },

  showKeys(keys) {
    for (const [id, use] of keys) {
      const name = uuid(Uint8Array.from(atob(id.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0)));
      const row = element('keys').insertRow();
      for (const text of [name, use, 'asked for']) row.insertCell().textContent = text;
      this.rows.set(name, row);
    }
  },

  showStates(states) {
    for (const [id, state] of states) {
      const row = this.rows.get(uuid(ArrayBuffer.isView(id) ? id.buffer : id));
      if (row) row.cells[2].textContent = state;
    }
  },

  showLicense(renewAfter) {
    element('status').textContent = `The server gave the keys at ${new Date().toLocaleTimeString()}.`;
    this.showNext(renewAfter);
    this.playing(true);
    this.state('playing');
  },

  showTrouble(error, wait) {
    element('status').textContent = `The server does not answer, and is asked again. ${error.message}`;
    this.showNext(wait);
  },

  showNext(seconds) {
    element('next').hidden = !seconds;
    if (!seconds) return;
    const time = new Date(Date.now() + seconds * 1000);
    element('next-time').dateTime = time.toISOString();
    element('next-time').textContent = time.toLocaleTimeString();
  },

  showEnd(error) {
    this.playing(false);
    element('next').hidden = true;
    for (const row of this.rows.values()) row.cells[2].textContent = 'given back';
    if (!(error instanceof Refusal)) {
      element('status').textContent = error ? `Playback failed. ${error.message}` : 'Playback was stopped.';
      this.state(error ? 'failed' : 'stopped');
      return;
    }
    const { words } = error;
    element('status').textContent = 'The server refused the keys.';
    element('refusal-reason').textContent = error.message;
    element('refusal-remedy').textContent = words.remedy ?? '';
    element('refusal-code').textContent = words.code ?? `status ${error.status}`;
    element('refusal-request').textContent = words.requestId ?? 'not known';
    element('refusal').hidden = false;
    this.state('refused');
  },
};

async function main() {
  const response = await fetch('setup.json');
  if (!response.ok) throw new Error('The page does not know what to play.');
  const setup = await response.json();
  let playback = null;
  for (const stream of setup.streams) element('stream').add(new Option(stream.title, stream.playlist));
  for (const viewer of setup.viewers) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = viewer.title;
    button.addEventListener('click', async () => {
      await playback?.stop();
      view.reset();
      const next = playback = new Playback(setup, viewer.token, element('video'), view);
      const url = new URL(element('stream').value, document.baseURI);
      next.start(url).catch((error) => next.fail(error));
    });
    element('viewers').append(button);
  }
  element('again').addEventListener('click', () => playback?.renew());
  element('stop').addEventListener('click', async () => {
    await playback?.stop();
    view.showEnd(null);
  });
  addEventListener('pagehide', () => playback?.stop());
  view.state('ready');
}

main().catch((error) => {
  element('status').textContent = error.message;
  view.state('failed');
});
