'use strict';
// The part of the page that is about one host.

function hostHead(host) {
    const address = host.address === null ? null
        : foreign('', host.port === null || host.port === 22 ? host.address : `${host.address} port ${host.port}`);
    return [
        el('h2', '', foreign('', host.name)),
        el('p', 'hostmeta', badge(host.state), address,
            el('span', '', host.seconds === null ? 'never begun' : `took ${duration(host.seconds)}`),
            host.driver_version ? el('span', '', 'driver ', foreign('', host.driver_version)) : null),
    ];
}

function errorPart(error) {
    if (error === null) return null;
    return el('section', 'error', el('h3', '', 'Error'),
        el('p', '', error.phase ? [el('strong', '', error.phase), ': '] : null, foreign('', error.message), ' ',
            el('code', 'code', error.kind)),
        remedyLine(error.remedy));
}

const codeOf = kind => kind.replaceAll('_', '-');

// Findings over and above those of the GPUs, and above the error that is shown in any case.
function ownFindings(host) {
    return host.findings.filter(finding => !(host.error && finding.code === codeOf(host.error.kind)
        && (finding.text === host.error.message || finding.text === troubleOf(host).text)));
}

function gpusPart(host) {
    if (!isRun && host.surveyed === false)
        return section('GPUs', el('p', 'note', 'No survey came to its end: nothing is known of its GPUs.'));
    if (host.gpus.length === 0) return null;
    return section('GPUs', el('ul', 'gpus', host.gpus.map(gpuCard)));
}

function donePart(host) {
    if (host.plan !== null) return section(report.dry_run ? 'What would be done' : 'Plan', planList(host));
    const line = timeLine(host);
    return line === null ? null : section(isRun ? 'Commands' : 'What was done', line);
}

// Everything that is known of the host, as elements.
function hostParts(host) {
    const findings = ownFindings(host);
    const doneFirst = isGood(host.state) || isRun;  // else what is there now comes first
    const known = [
        errorPart(host.error),
        findings.length > 0 ? section('Findings', findingList(findings)) : null,
        doneFirst ? donePart(host) : null,
        gpusPart(host),
        host.openers.length > 0
            ? section('Openers', el('p', 'note', 'Device files open, and no context on any GPU.'), processList(host.openers)) : null,
        doneFirst ? null : donePart(host),
        host.spared.length > 0 ? section('Left alone', sparedList(host, host.spared)) : null,
    ];
    return known.some(Boolean) ? known : el('p', 'note', 'Nothing more is known of it.');
}

// --- beside the map --------------------------------------------------------------------------------------------------

const panel = document.getElementById('host');

function showHost(host, gpuKey, {previous, next, close}) {
    const turn = (text, title, other) => {
        const node = titled(button('turn', text, () => other.open()), title);
        node.disabled = !other;
        return node;
    };
    const focused = panel.contains(document.activeElement) ? document.activeElement.title : '';
    panel.replaceChildren(
        el('div', 'panelhead',
            el('div', 'turns', turn('\u2039', 'previous host', previous), turn('\u203a', 'next host', next),
                titled(button('close', '\u00d7', close), 'close')),
            hostHead(host)),
        ...[hostParts(host)].flat().filter(Boolean));
    panel.hidden = false;
    panel.setAttribute('aria-label', `Host ${host.name}`);
    panel.scrollTop = 0;
    [...panel.querySelectorAll('button')].find(node => node.title === focused)?.focus();
    showGpu(gpuKey);
}

function showGpu(gpuKey) {
    for (const card of panel.querySelectorAll('.gpu.open')) card.classList.remove('open');
    const card = gpuKey && panel.querySelector(`.gpu[data-gpu="${CSS.escape(gpuKey)}"]`);
    if (!card) return;
    card.classList.add('open');
    const quiet = card.querySelector('details.quiet');
    if (quiet) quiet.open = true;
    card.scrollIntoView({block: 'start'});
}

function hideHost() {
    panel.hidden = true;
    panel.replaceChildren();
}
