'use strict';
// The report, and what can be asked of it. Nothing here touches the page.

performance.mark('begin');
const report = JSON.parse(document.getElementById('report').textContent);
performance.measure('read', 'begin');
const isRun = report.command === 'run';

// Worst first.
const states = isRun ? ['failed', 'not_asked', 'ok'] : ['unreachable', 'unknown', 'sick', 'dirty', 'clean'];
const isGood = state => state === 'clean' || state === 'ok';

// How an ad-hoc command went.
function asked(host) {
    const ended = command => command.result === 'ok' || command.result === 'failed';
    if (host.error || host.commands.length === 0 || !host.commands.every(ended)) return 'not_asked';
    return host.commands.every(command => command.result === 'ok') ? 'ok' : 'failed';
}

// The names that links know GPUs by: the index, where it tells them apart.
function nameGpus(gpus) {
    const seen = new Set();
    gpus.forEach((gpu, place) => {
        const name = String(gpu.index ?? gpu.uuid ?? 'at');
        gpu.key = seen.has(name) ? `${name}.${place}` : name;
        seen.add(gpu.key);
    });
}

const hostsByName = new Map();
report.hosts.forEach((host, place) => {
    host.place = place;
    host.state = isRun ? asked(host) : host.verdict ?? 'unknown';
    nameGpus(host.gpus);
    if (!hostsByName.has(host.name)) hostsByName.set(host.name, host);
});

const gpuName = gpu => gpu.index === null ? gpu.uuid ?? 'a GPU without index' : `GPU ${gpu.index}`;
const mostGpus = report.hosts.reduce((most, host) => Math.max(most, host.gpus.length), 0);
// As long as nine names of ten.
const usualName = report.hosts.map(host => host.name.length).sort((a, b) => a - b)[Math.floor(report.hosts.length * 0.9)] ?? 0;

function countStates() {
    const counts = Object.fromEntries(states.map(state => [state, 0]));
    for (const host of report.hosts) ++counts[host.state];
    return counts;
}

// --- who is at a GPU -------------------------------------------------------------------------------------------------

const processKey = process => `${process.pid}:${process.start}`;
const pidText = process => process.pid === null ? 'a process without pid' : `pid ${process.pid}`;

// Each process once, with the GPUs that it holds.
function unprotectedHolders(host) {
    const found = new Map();
    for (const gpu of host.gpus)
        for (const holder of gpu.holders) {
            if (holder.protected) continue;
            const key = holder.pid === null ? `${gpu.key}/${found.size}` : processKey(holder);
            if (!found.has(key)) found.set(key, {process: holder, gpus: []});
            found.get(key).gpus.push(gpu);
        }
    return [...found.values()];
}

// What is known of a process that may be named by pid alone.
function processOf(host, key) {
    if (key.command !== undefined) return key;
    const all = [...host.gpus.flatMap(gpu => gpu.holders), ...host.openers, ...host.actions, ...host.spared];
    return all.find(process => process.pid === key.pid && process.start === key.start) ?? key;
}

// --- search ----------------------------------------------------------------------------------------------------------

const findingTexts = findings => findings.flatMap(finding => [finding.code, finding.text]);
const processTexts = process => [`pid ${process.pid}`, process.user, process.command, process.exe, process.unit];
const lower = parts => parts.filter(part => part !== null && part !== undefined).join('\n').toLowerCase();

function textOfGpu(gpu) {
    gpu.text ??= lower([gpuName(gpu), gpu.uuid, gpu.bus_id, gpu.name, gpu.verdict, ...findingTexts(gpu.findings),
        ...gpu.holders.flatMap(processTexts), ...gpu.instances.flatMap(instance => [instance.uuid, instance.profile])]);
    return gpu.text;
}

function textOfHost(host) {
    const error = host.error ?? {};
    host.text ??= lower([host.name, host.address, wordOf(host.state), ...findingTexts(host.findings),
        error.kind, error.phase, error.message, ...host.openers.flatMap(processTexts),
        ...host.actions.flatMap(processTexts), ...host.spared.flatMap(processTexts), ...host.spared.map(one => one.code),
        ...host.commands.flatMap(command => [command.command, command.about, command.stdout, command.stderr])]);
    return host.text;
}

const wordsOf = query => query.toLowerCase().split(/\s+/).filter(Boolean);

// Each word stands somewhere at the host or at one of its GPUs.
const matches = (host, words) => words.every(
    word => textOfHost(host).includes(word) || host.gpus.some(gpu => textOfGpu(gpu).includes(word)));

// The GPUs that a search is about: those that have all of its words that any has. None: the host as a whole is meant.
function gpusMeant(host, words) {
    const has = word => gpu => textOfGpu(gpu).includes(word);
    const told = words.filter(word => host.gpus.some(has(word)));
    const meant = host.gpus.filter(gpu => told.every(word => has(word)(gpu)));
    return meant.length < host.gpus.length ? meant : [];
}

// --- order -----------------------------------------------------------------------------------------------------------

const natural = new Intl.Collator('en', {numeric: true});

// By name once, since comparing names is what takes long with many hosts.
[...report.hosts].sort((a, b) => natural.compare(a.name, b.name)).forEach((host, rank) => { host.rank = rank; });
for (const host of report.hosts) host.troubled = host.gpus.filter(gpu => !isGood(gpu.verdict)).length;

const orders = {
    worst: (a, b) => states.indexOf(a.state) - states.indexOf(b.state) || b.troubled - a.troubled || a.rank - b.rank,
    name: (a, b) => a.rank - b.rank,
};

// The hosts that are asked for, in the order that is asked for.
function select({show, query, order}) {
    const words = wordsOf(query);
    return report.hosts
        .filter(host => (show.size === 0 || show.has(host.state)) && matches(host, words))
        .sort(orders[order]);
}
