// node send.mjs http|proto|grpc URL SPANS: sends so many spans in traces of five, then one good span
// beside one without a trace id; prints what the exporter was told as one line of JSON.
import { DiagLogLevel, ROOT_CONTEXT, diag, trace } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";

const [kind, url, spans] = process.argv.slice(2);
const said = [];
const note = (...words) => said.push(words.map((w) => (typeof w === "string" ? w : JSON.stringify(w))).join(" "));
diag.setLogger({ error: note, warn: note, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN);

const { OTLPTraceExporter } = await import(`@opentelemetry/exporter-trace-otlp-${kind}`);
const exporter = new OTLPTraceExporter({ url, timeoutMillis: 60000 });
const results = [];
const send = exporter.export.bind(exporter);
exporter.export = (batch, done) => send(batch, (result) => { results.push(result.code); done(result); });

const provider = new BasicTracerProvider({
  resource: resourceFromAttributes({ "service.name": `js-${kind}` }),
  spanProcessors: [new BatchSpanProcessor(exporter, { maxExportBatchSize: 50, maxQueueSize: 10000, exportTimeoutMillis: 70000 })],
});
const tracer = provider.getTracer("peer");
const traces = [];
for (let n = 0; n < Number(spans); n += 5) {
  const root = tracer.startSpan("chat js", { attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "toy" } }, ROOT_CONTEXT);
  traces.push(root.spanContext().traceId);
  const inside = trace.setSpan(ROOT_CONTEXT, root);
  for (let child = 1; child < 5; child++) tracer.startSpan(`step ${child}`, { attributes: { blob: "x".repeat(200) } }, inside).end();
  root.end();
}
await provider.forceFlush();

const good = tracer.startSpan("good", {}, ROOT_CONTEXT);
traces.push(good.spanContext().traceId);
const bad = Object.create(good, { spanContext: { value: () => ({ ...good.spanContext(), traceId: "0".repeat(32) }) } });
await new Promise((resolve) => exporter.export([good, bad], resolve));
await provider.shutdown();
console.log(JSON.stringify({ traces, results, said }));
