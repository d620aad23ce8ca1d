'use strict';
// Why a host is not clean, in a few words; and what to look at first.

function list(names, most) {
    const shown = names.slice(0, most).join(', ');
    return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

function whoHolds(holders) {
    const users = [...new Set(holders.map(holder => holder.process.user))].filter(user => user !== null);
    const of = users.length === 0 ? '' : ` of ${list(users, 2)}`;
    return (holders.length > 1 ? plural(holders.length, 'process', 'processes') : pidText(holders[0].process)) + of;
}

function whereHeld(gpus) {
    return gpus.length === 1 ? `on ${gpuName(gpus[0])}` : `on ${gpus.length} GPUs`;
}

// Of the worst findings that made this verdict, those of GPUs first.
function worstFindings(host) {
    const fits = finding => finding.severity === host.state;
    const ofGpus = host.gpus.flatMap(gpu => gpu.findings.filter(fits).map(finding => ({gpu, finding})));
    return [...ofGpus, ...host.findings.filter(fits).map(finding => ({gpu: null, finding}))];
}

// Why its holders are there although it was cleared, and what helps then.
function whyTheyStay(host, holders) {
    const isSame = process => one => one.pid === process.pid && one.start === process.start;
    const spared = holders.map(({process}) => host.spared.find(isSame(process)));
    if (spared.every(Boolean)) return {text: `left alone: ${spared[0].why}`, remedy: null};
    const wasSignalled = host.actions.some(action => action.result !== 'planned');
    return wasSignalled ? host.findings.find(finding => finding.severity === 'dirty') : undefined;
}

function troubleOfDirty(host) {
    const findings = worstFindings(host);
    const remedy = findings.find(({finding}) => finding.remedy)?.finding.remedy ?? null;
    const holders = unprotectedHolders(host);
    if (holders.length > 0) {
        const gpus = [...new Set(holders.flatMap(holder => holder.gpus))];
        const used = gpus.reduce((sum, gpu) => sum + (gpu.used_mib ?? 0), 0);
        const held = `${mib(used)} ${whereHeld(gpus)} held by ${whoHolds(holders)}`;
        const why = whyTheyStay(host, holders);
        return {text: why ? `${held}; ${why.text}` : held, command: holders[0].process.command, remedy: why ? why.remedy : remedy};
    }
    const openers = host.openers.filter(opener => !opener.protected);
    if (openers.length > 0 && findings.every(({gpu}) => gpu === null)) {
        const text = `device files open in ${whoHolds(openers.map(process => ({process})))}`;
        return {text, command: openers[0].command, remedy};
    }
    return troubleOfFindings(host, findings);
}

function troubleOfFindings(host, findings) {
    if (findings.length === 0) return {text: '', command: null, remedy: null};
    const {gpu, finding} = findings[0];
    if (gpu === null) return {text: finding.text, command: null, remedy: finding.remedy};
    const others = host.gpus.filter(other => other !== gpu && other.verdict === host.state).length;
    const more = others === 0 ? '' : `; ${plural(others, 'other GPU')} ${host.state} too`;
    return {text: `${gpuName(gpu)}: ${finding.text}${more}`, command: null, remedy: finding.remedy};
}

function troubleOfRun(host) {
    if (host.error) return troubleOfError(host.error);
    const last = host.commands[host.commands.length - 1];
    if (!last) return {text: 'not asked', command: null, remedy: null};
    const line = (last.stderr || last.stdout || '').trim().split('\n')[0];
    const ending = last.result === 'ok' ? '' : endingOf(last);
    return {text: ending, command: line || null, remedy: null};
}

function troubleOfError({phase, message, remedy}) {
    return {text: phase && phase !== message ? `${phase}: ${message}` : message, command: null, remedy};
}

// What stands against a host: `text`, the command line that it is about and a remedy, where there are any.
function troubleOf(host) {
    if (!host.trouble) {
        if (isRun) host.trouble = troubleOfRun(host);
        else if (host.error) host.trouble = troubleOfError(host.error);
        else if (host.state === 'dirty') host.trouble = troubleOfDirty(host);
        else if (host.state === 'clean') host.trouble = {text: '', command: null, remedy: null};
        else host.trouble = troubleOfFindings(host, worstFindings(host));
    }
    return host.trouble;
}

// For each state that is not good, worst first: the most hosts of which the same is to be said, and how many there are
// besides.
function firstTroubles() {
    const byState = new Map();
    for (const host of report.hosts) {
        if (isGood(host.state)) continue;
        const groups = byState.get(host.state) ?? byState.set(host.state, new Map()).get(host.state);
        const {text} = troubleOf(host);
        groups.has(text) ? groups.get(text).push(host) : groups.set(text, [host]);
    }
    return states.filter(state => byState.has(state)).map(state => {
        const groups = [...byState.get(state).values()];
        const hosts = groups.reduce((most, group) => group.length > most.length ? group : most);
        return {state, hosts, others: groups.reduce((sum, group) => sum + group.length, 0) - hosts.length};
    });
}
