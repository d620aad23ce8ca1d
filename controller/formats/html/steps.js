'use strict';
// Parts of a host's page: what was done, and what a dry run would do.

function endingOf(command) {
    const words = {ok: 'done', failed: 'failed', not_ended: 'its end was not seen', planned: 'planned',
        withheld: 'withheld', not_sent: 'not sent'};
    if (command.exit_signal) return `ended by ${command.exit_signal}`;
    if (command.exit_status !== null && command.result !== 'not_ended') return `exit ${command.exit_status}`;
    return words[command.result] ?? command.result;
}

// What became of a signal; whether that is what was wanted.
const signalEndings = {
    ended: ['ended', true], alive: ['still alive', false], zombie: ['a zombie: its parent has not reaped it', false],
    changed: ['not signalled: another process has its pid now', false], not_permitted: ['not permitted', false],
    planned: ['planned', true], not_sent: ['not sent', false],
};
function endingOfSignal(action) {
    const [words, wanted] = signalEndings[action.result] ?? ['sent; what became of it was not seen', false];
    return [action.result === 'alive' && action.end_state ? `${words} in state ${action.end_state}` : words, wanted];
}

function stream(name, text) {
    if (text === null || text.trim() === '') return null;
    const lines = text.replace(/\n$/, '');
    const block = el('pre', name, foreign('', lines));
    if (lines.split('\n').length > 12 || lines.length > 1000) block.tabIndex = 0;  // it scrolls
    return el('div', 'stream', el('span', 'label', name), block);
}

function secondsBar(seconds, longest) {
    if (seconds === null) return null;
    const bar = el('span', 'took', el('span', ''));
    bar.firstChild.style.width = `${longest > 0 ? Math.max(1, 100 * seconds / longest) : 0}%`;
    return [bar, el('span', 'seconds', duration(seconds))];
}

function signalEntry(action, longest) {
    const [ending, wanted] = endingOfSignal(action);
    return el('li', wanted ? 'entry' : 'entry bad',
        el('div', 'what', el('p', '', el('strong', '', foreign('', action.signal)), ' to ', pidText(action),
            action.user === null ? null : [' of ', foreign('user', action.user)], ': ', el('span', 'ending', ending)),
            secondsBar(action.seconds, longest)),
        commandLine(action),
        action.rule ? el('p', 'places', el('span', '', 'chosen by ', foreign('', action.rule))) : null);
}

const commandKinds = {run: 'command', before: 'command before', after: 'command after', stop: 'stop',
    reset: 'reset', clean_shm: 'remove file', reboot: 'reboot'};

function commandEntry(command, longest) {
    const wanted = command.result === 'ok' || command.result === 'planned';
    const size = command.bytes === null ? null : ` (${plural(command.bytes, 'byte')})`;
    return el('li', wanted ? 'entry' : 'entry bad',
        el('div', 'what', el('p', '', el('strong', '', commandKinds[command.kind] ?? command.kind), size, ': ',
            el('span', 'ending', endingOf(command))), secondsBar(command.seconds, longest)),
        commandLine(command),
        command.conditional ? el('p', 'places', 'only where it is still needed then') : null,
        command.about ? el('p', 'places', foreign('', command.about)) : null,
        stream('stdout', command.stdout), stream('stderr', command.stderr));
}

// What was done, step by step, in order. How long each took is shown, not when: that is not known.
function timeLine(host) {
    const acts = [
        ...host.actions.map(action => ({step: action.step, seconds: action.seconds, entry: signalEntry, act: action})),
        ...host.commands.map(command => ({step: command.step, seconds: command.seconds, entry: commandEntry, act: command})),
    ];
    const longest = acts.reduce((most, act) => Math.max(most, act.seconds ?? 0), 0);
    const steps = [...new Set(acts.map(act => act.step))].sort((a, b) => a - b);
    const nodes = steps.map(step => el('li', 'step', step === 0 ? null : el('h4', '', `Step ${step}`),
        el('ul', 'entries', acts.filter(act => act.step === step).map(act => act.entry(act.act, longest)))));
    if (host.seconds_to_clean !== null)
        nodes.push(el('li', 'step end', el('h4', '', badge('clean'), ` ${duration(host.seconds_to_clean)} after the first signal`)));
    return nodes.length === 0 ? null : el('ol', 'timeline', nodes);
}

// --- the plan of a dry run -------------------------------------------------------------------------------------------

function plannedStep(host, step) {
    const targets = step.targets.map(key => processOf(host, key));
    const commands = step.commands.map(place => host.commands[place]).filter(Boolean);
    const empty = targets.length + step.spared.length + commands.length + step.notes.length === 0;
    return el('li', 'step', el('h4', '', `Step ${step.step}: `, foreign('', step.name)),
        empty ? el('p', 'note', 'nothing to do') : null,
        targets.length > 0 ? processList(targets) : null,
        commands.length > 0 ? el('ul', 'entries', commands.map(command => commandEntry(command, 0))) : null,
        step.spared.length > 0 ? [el('p', 'note', 'left alone:'), sparedList(host, step.spared)] : null,
        step.notes.map(note => el('p', 'note', foreign('', note))));
}

const planList = host => el('ol', 'timeline', host.plan.map(step => plannedStep(host, step)));

function sparedList(host, spared) {
    return el('ul', 'processes', spared.map(one => {
        const card = processCard({...processOf(host, one), ...one});
        card.append(el('p', 'places', el('code', 'code', one.code), ' ', foreign('', one.why)));
        return card;
    }));
}
