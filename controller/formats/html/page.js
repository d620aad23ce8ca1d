'use strict';
// What is shown, kept in the location's hash so that a link shows the same, and the controls that change it.

const view = {host: null, gpu: null, show: new Set(), query: '', order: 'worst'};
const byId = id => document.getElementById(id);
let shown = [];  // hosts of the map, in its order

// --- the location ----------------------------------------------------------------------------------------------------

function readHash() {
    const asked = new URLSearchParams(location.hash.slice(1));
    view.host = hostsByName.get(asked.get('host')) ?? null;
    view.gpu = view.host && asked.get('gpu');
    view.show = new Set((asked.get('show') ?? '').split(',').filter(state => states.includes(state)));
    view.query = asked.get('q') ?? '';
    view.order = asked.get('order') === 'name' ? 'name' : 'worst';
}

function hashOfView() {
    const asked = new URLSearchParams();
    if (view.host) asked.set('host', view.host.name);
    if (view.host && view.gpu !== null) asked.set('gpu', view.gpu);
    if (view.show.size > 0) asked.set('show', [...view.show].join(','));
    if (view.query) asked.set('q', view.query);
    if (view.order !== 'worst') asked.set('order', view.order);
    return `#${asked}`.replaceAll('%2C', ',');
}

// A host that is opened is a step back in the browser's history; a filter is not.
function saveView(isStep) {
    const hash = hashOfView();
    if (hash === location.hash || (hash === '#' && location.hash === '')) return;
    history[isStep ? 'pushState' : 'replaceState'](null, '', hash === '#' ? location.pathname + location.search : hash);
}

// --- the controls ----------------------------------------------------------------------------------------------------

function stateButton(state, count) {
    const node = button(`state ${state ?? 'all'}`, '', () => {
        if (state === null) view.show.clear();
        else if (!view.show.delete(state)) view.show.add(state);
        filter();
    });
    node.append(...(state === null ? [] : [sign(state)]), `${state === null ? 'all' : wordOf(state)} `, el('strong', '', count));
    node.dataset.state = state ?? '';
    node.disabled = count === 0;
    return node;
}

function buildControls() {
    const counts = countStates();
    byId('states').append(stateButton(null, report.hosts.length), ...states.map(state => stateButton(state, counts[state])));
    for (const [order, text] of [['worst', 'worst first'], ['name', 'by name']]) {
        const node = button('order', text, () => {
            view.order = order;
            filter();
        });
        node.dataset.order = order;
        byId('sorts').append(node);
    }
    byId('search').addEventListener('input', event => {
        view.query = event.target.value;
        filter();
    });
    byId('bar').hidden = report.hosts.length < 2;
}

function showControls() {
    for (const node of byId('states').children)
        node.setAttribute('aria-pressed', node.dataset.state === '' ? view.show.size === 0 : view.show.has(node.dataset.state));
    for (const node of byId('sorts').children) node.setAttribute('aria-pressed', node.dataset.order === view.order);
    if (byId('search').value !== view.query) byId('search').value = view.query;
}

function showFleet() {
    shown = select(view);
    showControls();
    showMap(shown, view);
    const some = shown.length < report.hosts.length;
    byId('found').hidden = !some;
    byId('found').replaceChildren(`${shown.length} of ${plural(report.hosts.length, 'host')} `,
        button('more', 'show all', () => {
            view.show.clear();
            view.query = '';
            filter();
        }));
}

function filter() {
    saveView(false);
    showFleet();
    showOpen();
}

// --- the open host ---------------------------------------------------------------------------------------------------

function neighbour(step) {
    const host = shown[shown.indexOf(view.host) + step];
    return host && shown.includes(view.host) ? {open: () => open(host, null)} : null;
}

function showOpen() {
    const changed = openHost !== view.host;
    openHost = view.host;
    openGpu = view.gpu;
    const isBeside = view.host !== null;
    document.body.classList.toggle('beside', isBeside);
    if (isBeside === panel.hidden) sizeBlocks();  // it will not be so any more: the map has another width
    if (view.host === null) hideHost();
    else if (changed) showHost(view.host, view.gpu, {previous: neighbour(-1), next: neighbour(1), close});
    else showGpu(view.gpu);
    markOpen();
}

// The tile stays where it is on the screen although the map becomes narrower or wider.
function keepInPlace(host, change) {
    const before = tileOf(host)?.getBoundingClientRect().top;
    change();
    const after = tileOf(host)?.getBoundingClientRect().top;
    if (before !== undefined && after !== undefined) window.scrollBy(0, after - before);
}

function open(host, gpu) {
    view.host = host;
    view.gpu = gpu;
    saveView(true);
    keepInPlace(host, showOpen);
    tileOf(host)?.scrollIntoView({block: 'nearest'});
    if (!panel.contains(document.activeElement)) panel.focus({preventScroll: true});
}

function close() {
    const host = view.host, gpu = view.gpu;
    if (!host) return;
    view.host = view.gpu = null;
    saveView(true);
    keepInPlace(host, showOpen);
    const node = tileOf(host);
    (node?.querySelector(gpu ? `[data-gpu="${CSS.escape(gpu)}"]` : '.name') ?? node?.querySelector('a'))?.focus({preventScroll: true});
}

// --- what stands above -----------------------------------------------------------------------------------------------

function hostLink(host) {
    const link = linkTo(host);
    link.removeAttribute('tabindex');
    link.className = 'hostlink';
    link.dataset.place = host.place;
    link.append(foreign('', host.name));
    return link;
}

function troubleLine({state, hosts, others}) {
    const {text, command, remedy} = troubleOf(hosts[0]);
    const most = 3;
    const names = hosts.slice(0, most).flatMap((host, place) => [place > 0 ? ', ' : '', hostLink(host)]);
    const more = hosts.length > most ? ` and ${hosts.length - most} more` : '';
    const rest = others === 0 ? null : button('more', `and ${others} more ${wordOf(state)}`, () => {
        view.show = new Set([state]);
        filter();
        byId('map').scrollIntoView();
    });
    return el('li', '', badge(state), el('div', '',
        el('p', '', el('strong', '', names, more), text ? [': ', foreign('', text)] : null, rest ? [' ', rest] : null),
        command ? el('div', 'command clamped', foreign('', command)) : null, remedyLine(remedy)));
}

function buildHead() {
    byId('sign').append(sign(document.documentElement.dataset.state));
    const troubles = firstTroubles();
    if (troubles.length > 0) byId('trouble').append(el('ul', '', troubles.map(troubleLine)));
    if (report.notes.length > 0)
        byId('notes').append(el('details', '', el('summary', '', plural(report.notes.length, 'note')),
            el('ul', '', report.notes.map(note => el('li', '', foreign('', note))))));
    const time = document.querySelector('time');
    const started = new Date(report.started);
    if (Number.isNaN(started.getTime())) return;
    time.textContent = report.started.replace('T', ' ').replace('Z', ' UTC');
    time.title = `${started.toLocaleString()} here`;
}

// --- paper -----------------------------------------------------------------------------------------------------------

const mostPrinted = 200;  // hosts in detail

// On paper nothing can be clicked: what is not clean follows in detail, or the host that stands open.
function printDetails() {
    buildAll();
    const hosts = view.host ? [view.host] : shown.filter(host => isRun || !isGood(host.state)).slice(0, mostPrinted);
    byId('print').replaceChildren(...hosts.map(host => el('article', '', hostHead(host), hostParts(host))));
}

// --- the page --------------------------------------------------------------------------------------------------------

document.addEventListener('click', event => {
    const link = event.target.closest('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const host = report.hosts[link.dataset.place] ?? hostOf(link);
    open(host, link.dataset.gpu ?? null);
});
document.addEventListener('keydown', event => {
    if (event.key === 'Escape' && view.host) close();
    if (event.key !== '/' || event.target.matches('input')) return;
    event.preventDefault();
    byId('search').focus();
});
window.addEventListener('popstate', () => {
    const before = hashOfFleet();
    readHash();
    if (hashOfFleet() !== before) showFleet();
    showOpen();
});
const hashOfFleet = () => `${[...view.show]}/${view.order}/${view.query}`;
window.addEventListener('beforeprint', printDetails);
window.addEventListener('afterprint', () => byId('print').replaceChildren());

document.documentElement.style.setProperty('--name', `${nameWidth}ch`);
document.documentElement.style.setProperty('--gpus', Math.min(Math.max(mostGpus, 5), 8));
buildHead();
buildControls();
readHash();
if (report.hosts.length === 1 && !view.host) view.host = report.hosts[0];
showFleet();
showOpen();
if (view.host) tileOf(view.host)?.scrollIntoView({block: 'center'});
performance.mark('ready');
document.documentElement.classList.add('ready');
