// Drives `advise mcp` with the official clients: node mcp_client.mjs PROGRAM TRACE
import { Client as Sdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as SdkPipe } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as Next } from '@modelcontextprotocol/client';
import { StdioClientTransport as NextPipe } from '@modelcontextprotocol/client/stdio';

const [program, trace] = process.argv.slice(2);
const self = { name: 'advise-test', version: '1.0.0' };

async function ask(name, client, pipe, revision) {
  await client.connect(pipe);
  const { tools } = await client.listTools();
  const call = async (tool, given) => {
    const result = await client.callTool({ name: tool, arguments: given });
    if (result.isError) throw new Error(`${tool}: ${result.content[0].text}`);
    return result.content[0].text;
  };
  const opened = JSON.parse(await call('open', { paths: [trace] }));
  const list = JSON.parse(await call('diagnose', { run: opened.run }));
  if (!opened.verdict || list.findings[0].rule !== opened.findings[0].rule) {
    throw new Error('open and diagnose differ');
  }
  await call('why', { run: opened.run, rule: list.findings[0].rule });
  await call('facts', { run: opened.run, match: 'budget' });
  await call('whatif', { run: opened.run, fixes: [list.findings[0].rule] });
  const wrong = await client.callTool({ name: 'diagnose', arguments: { run: 'r9' } });
  if (!wrong.isError) throw new Error('a run that is not open was accepted');
  console.log(`${name}: ${revision()}, ${tools.length} tools`);
  await client.close();
}

const how = { command: program, args: ['mcp'] };
const sdk = new Sdk(self);
const sdkPipe = new SdkPipe(how);
let agreed = '';
sdkPipe.setProtocolVersion = (version) => { agreed = version; };
await ask('sdk', sdk, sdkPipe, () => agreed);
const next = new Next(self, { versionNegotiation: { mode: 'auto' } });
await ask('client', next, new NextPipe(how), () => next.getNegotiatedProtocolVersion());
