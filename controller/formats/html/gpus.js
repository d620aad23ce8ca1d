'use strict';
// Parts of a host's page: findings, processes, GPUs with their memory.

const remedyLine = remedy => remedy ? el('p', 'remedy', '\u2192 ', foreign('', remedy)) : null;

function findingLine(finding) {
    return el('li', `finding ${finding.severity}`, signs[finding.severity] ? [sign(finding.severity), ' '] : null,
        el('code', 'code', finding.code), ' ',
        foreign('', finding.text), remedyLine(finding.remedy));
}

const findingList = findings => findings.length === 0 ? null : el('ul', 'findings', findings.map(findingLine));

const stateWords = {D: 'in D state: it waits for a device', Z: 'a zombie', T: 'stopped', t: 'stopped by a tracer'};

// Each is a property of the process, said in words.
function remarksOn(holder) {
    return [
        holder.protected && (holder.protected_by ? `protected: ${holder.protected_by}` : 'protected'),
        holder.ghost && 'a ghost: the driver lists it, it no longer lives',
        holder.inherited && 'keeps a dead process\u2019s memory through inherited descriptors',
        holder.foreign_pid && 'its pid is of another pid namespace',
        holder.without_device && 'has no device file open under a known name',
        stateWords[holder.state],
    ].filter(Boolean);
}

function commandLine(process) {
    const command = process.command || (process.exe && `[${process.exe}]`);
    if (!command) return null;
    const line = el('div', 'command', foreign('', command));
    if (command.length > 300) line.tabIndex = 0;  // it scrolls
    return line;
}

function processCard(holder) {
    const facts = [
        holder.user && foreign('user', holder.user),
        holder.used_mib !== null && holder.used_mib !== undefined && el('span', 'memory', mib(holder.used_mib)),
        holder.age_seconds !== null && holder.age_seconds !== undefined && el('span', '', `${duration(holder.age_seconds)} old`),
    ].filter(Boolean);
    const places = [
        holder.unit && el('span', '', 'in ', foreign('', holder.unit)),
        holder.exe && holder.command && foreign('exe', holder.exe),
        ...remarksOn(holder).map(remark => foreign('', remark)),
    ].filter(Boolean);
    return el('li', holder.protected ? 'process protected' : 'process',
        el('p', 'who', el('strong', '', pidText(holder)), facts),
        commandLine(holder),
        places.length > 0 ? el('p', 'places', places) : null);
}

const processList = (holders, more = () => null) =>
    el('ul', 'processes', holders.map(holder => {
        const card = processCard(holder);
        const rest = more(holder);
        if (rest) card.append(rest);
        return card;
    }));

// Used memory of all that there is, with a mark where the limit stands.
function memoryBar(gpu) {
    if (gpu.used_mib === null || !gpu.total_mib) return null;
    const percent = part => `${Math.min(100, 100 * part / gpu.total_mib).toFixed(2)}%`;
    const used = el('span', `used ${gpu.verdict}`);
    used.style.width = percent(gpu.used_mib);
    const bar = el('span', 'bar', used);
    if (gpu.limit_mib !== null) {
        const limit = el('span', 'limit');
        limit.style.left = percent(gpu.limit_mib);
        bar.append(limit);
    }
    bar.setAttribute('role', 'img');
    return titled(bar, `${gpu.used_mib} of ${mib(gpu.total_mib)} used`
        + (gpu.limit_mib === null ? '' : `, clean up to ${mib(gpu.limit_mib)}`));
}

const memoryText = gpu => gpu.used_mib === null ? 'memory not known' : `${gpu.used_mib} of ${mib(gpu.total_mib)}`;

function instanceLine(instance) {
    const numbers = [
        instance.device !== null && `device ${instance.device}`,
        instance.gpu_instance !== null && `GI ${instance.gpu_instance}`,
        instance.compute_instance !== null && `CI ${instance.compute_instance}`,
    ].filter(Boolean).join(', ');
    const holders = instance.holders === null ? 'holders not known'
        : instance.holders.length === 0 ? 'no holder' : list(instance.holders.map(pidText), 10);
    return el('li', '', el('strong', '', 'MIG '), foreign('', instance.profile ?? 'instance'), ` ${numbers}: ${holders}`,
        instance.uuid ? [' ', foreign('uuid', instance.uuid)] : null);
}

const row = ([column, value]) => el('tr', '', el('th', '', foreign('', column)), el('td', '', foreign('', value)));

// What nvidia-smi says besides.
function moreFields(gpu) {
    const rows = Object.entries(gpu.optional ?? {});
    return rows.length === 0 ? null : el('details', '', el('summary', '', `${plural(rows.length, 'more field')} of nvidia-smi`),
        el('table', 'optional', el('tbody', '', rows.map(row))));
}

function gpuParts(gpu) {
    const ids = [gpu.name, gpu.uuid, gpu.bus_id].filter(Boolean).map(id => foreign('', id));
    if (gpu.limit_mib !== null) ids.push(el('span', '', `clean up to ${mib(gpu.limit_mib)}`));
    return [
        findingList(gpu.findings),
        gpu.holders.length > 0 ? processList(gpu.holders) : null,
        gpu.instances.length > 0 ? el('ul', 'instances', gpu.instances.map(instanceLine)) : null,
        gpu.judged === false ? el('p', 'note', 'Not judged: the verdict is of other GPUs of this host.') : null,
        gpu.repaired ? el('p', 'note', 'Its row was fused to printed pids and was taken apart.') : null,
        el('p', 'ids', ids),
        moreFields(gpu),
    ];
}

// A GPU of which nothing is to be said is one line that can be opened.
function gpuCard(gpu) {
    const quiet = gpu.verdict === 'clean' && gpu.judged !== false && gpu.findings.length + gpu.holders.length + gpu.instances.length === 0;
    const head = el(quiet ? 'summary' : 'div', 'gpuhead', badge(gpu.verdict), el('strong', '', gpuName(gpu)), memoryBar(gpu),
        el('span', 'memory', memoryText(gpu)));
    const card = el('li', `gpu ${gpu.verdict}`, quiet ? el('details', 'quiet', head, gpuParts(gpu)) : [head, gpuParts(gpu)]);
    card.dataset.gpu = gpu.key;
    return card;
}
