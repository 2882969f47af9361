// SPDX-License-Identifier: MIT
// query.mjs FILE SQL... - opens a trace in Perfetto's Trace Processor and prints what each query gives, a row a line.
// TRACE_PROCESSOR is the directory that packets.py has filled. Node 18 or later.
import {readFileSync} from 'node:fs';
import vm from 'node:vm';
import {pathToFileURL} from 'node:url';

const dir = process.env.TRACE_PROCESSOR;
const {EngineBase} = await import(pathToFileURL(dir + '/engine.mjs').href);

// The bundle is a web worker's: give it what one has, memory32, the bytes, and a way to its bridge.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
Object.defineProperty(globalThis, 'location', {value: {href: pathToFileURL(dir).href + '/'}, configurable: true});
globalThis.wasmBytes = new Uint8Array(readFileSync(dir + '/trace_processor.wasm'));
let bundle = readFileSync(dir + '/engine_bundle.node.js', 'utf8');
for (const [from, to] of [
  ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
  ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,'],
  ['const wasmBridge = new wasm_bridge_1.WasmBridge();',
   'const wasmBridge = new wasm_bridge_1.WasmBridge(); globalThis.bridge = wasmBridge;'],
]) {
  if (!bundle.includes(from)) throw new Error('not the bundle that is known: ' + from);
  bundle = bundle.replace(from, to);
}
const warn = console.warn;
console.warn = (...a) => /Unexpected QueryResult field/.test(JSON.stringify(a[0] ?? '')) || warn(...a);
vm.runInThisContext(bundle);

const channel = new MessageChannel();
globalThis.bridge.initialize(channel.port1);
class Engine extends EngineBase {
  mode = 'WASM';
  id = 'query';
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = (m) => m.data instanceof Uint8Array && this.onRpcResponseBytes(m.data);
  }
  rpcSendRequestBytes(data) { this.port.postMessage(data); }
  dispose() { this.port.close(); }
}

const engine = new Engine(channel.port2);
while (!globalThis.bridge.reqBufferAddr) // the module is not compiled yet
  await new Promise((done) => setTimeout(done, 10));
const [, , file, ...queries] = process.argv;
await engine.parse(new Uint8Array(readFileSync(file)));
await engine.notifyEof();
for (const query of queries) {
  try {
    const result = await engine.query(query);
    const columns = result.columns();
    for (const row = result.iter({}); row.valid(); row.next())
      console.log(columns.map((c) => c + '=' + row.get(c)).join(' | '));
  } catch (error) {
    console.log('error: ' + String(error.message ?? error).slice(0, 300));
    process.exitCode = 1;
  }
}
engine.dispose(); // no process.exit(), which drops what a slow reader has not taken yet
