'use strict';
// The map of the fleet: hosts as tiles, their GPUs as cells. Tiles come in blocks that are built when they are about to
// be seen: ten thousand hosts are as quick to open as ten.

const blockSize = 240;  // tiles; so that most numbers of columns leave no gap between two blocks
const map = document.getElementById('map');
let words = [];  // of the search
let isDense = false;
const hostsOfBlock = new Map();  // of those that are not built

// --- tiles -----------------------------------------------------------------------------------------------------------

function linkTo(host, gpu) {
    const link = el('a');
    const target = new URLSearchParams({host: host.name});
    if (gpu) target.set('gpu', gpu.key);
    link.href = `#${target}`;
    link.tabIndex = -1;
    return link;
}

function cell(host, gpu) {
    const link = linkTo(host, gpu);
    link.className = `cell ${gpu.verdict}${gpu.judged === false ? ' beside' : ''}`;
    link.dataset.gpu = gpu.key;
    link.append(signs[gpu.verdict]);
    const memory = gpu.used_mib === null ? '' : `, ${gpu.used_mib} of ${mib(gpu.total_mib)} used`;
    const held = gpu.holders.length === 0 ? '' : `, held by ${list(gpu.holders.map(pidText), 3)}`;
    const judged = gpu.judged === false ? ', not judged' : '';
    return titled(link, `${host.name} ${gpuName(gpu)}: ${gpu.verdict}${judged}${memory}${held}`);
}

// Of a host that has no GPU to show.
function wholeRow(host) {
    const link = linkTo(host);
    link.className = `cell whole ${host.state}`;
    link.append(signs[host.state], ' ', wordOf(host.state));
    return titled(link, `${host.name}: ${wordOf(host.state)}. ${troubleOf(host).text}`);
}

const nameWidth = Math.min(Math.max(usualName, 6), 24);  // characters

// The end of a long name is often what tells it apart: it stays in sight.
function nameParts(name) {
    if (name.length <= nameWidth) return foreign('', name);
    const letters = [...name];
    return [foreign('start', letters.slice(0, -8).join('')), foreign('end', letters.slice(-8).join(''))];
}

// Whether a tile has a second line. By name there is none: the same place on every tile is the same GPU.
const hasWhy = host => (isRun || !isDense) && Boolean(troubleOf(host).text || troubleOf(host).command);

function tile(host) {
    const name = linkTo(host);
    name.className = 'name';
    name.append(...[nameParts(host.name)].flat());
    const {text, command} = troubleOf(host);
    name.title = text ? `${host.name}: ${text}` : host.name;
    name.setAttribute('aria-label', `${host.name}: ${wordOf(host.state)}`);
    const cells = el('span', 'cells', host.gpus.length > 0 ? host.gpus.map(gpu => cell(host, gpu)) : wholeRow(host));
    const node = el('li', `tile ${host.state}`, name, cells);
    if (hasWhy(host)) {
        const why = el('span', 'why', foreign('', text), command ? [text ? ' \u00b7 ' : '', foreign('command', command)] : null);
        why.title = command ? `${text}: ${command}`.slice(0, 500) : text;
        node.append(why);
    }
    node.dataset.place = host.place;
    for (const gpu of gpusMeant(host, words)) {
        node.classList.add('searched');
        node.querySelector(`[data-gpu="${CSS.escape(gpu.key)}"]`).classList.add('meant');
    }
    return node;
}

// --- blocks ----------------------------------------------------------------------------------------------------------

function build(block) {
    const hosts = hostsOfBlock.get(block);
    if (!hosts) return;
    hostsOfBlock.delete(block);
    nearby.unobserve(block);
    block.style.minHeight = '';
    block.append(...hosts.map(tile));
    markOpen();
}

const nearby = new IntersectionObserver(
    entries => entries.filter(entry => entry.isIntersecting).forEach(entry => build(entry.target)),
    {rootMargin: '1200px 0px'});

// All of a small fleet, the beginning of a large one: what is seen at once.
function buildFirst() {
    let tiles = 0;
    for (const [block, hosts] of [...hostsOfBlock]) {
        if (tiles >= blockSize) return;
        tiles += hosts.length;
        build(block);
    }
}

function buildAll() {
    for (const block of [...hostsOfBlock.keys()]) build(block);
}

// What is out of sight is built when there is nothing else to do, for the browser's own search.
const whenIdle = window.requestIdleCallback ?? (work => setTimeout(() => work({timeRemaining: () => 20}), 50));
function buildIdly(round) {
    whenIdle(deadline => {
        if (round !== rounds) return;
        for (const block of hostsOfBlock.keys()) {
            if (deadline.timeRemaining() < 15) break;
            build(block);
        }
        if (hostsOfBlock.size > 0) buildIdly(round);
    });
}

const gap = 6;  // px, between tiles, and around all of a block together
const columnsOf = block => getComputedStyle(block).gridTemplateColumns.split(' ').length;

// What is out of sight has no layout unless it is asked for.
function inLayout(block, look) {
    block.style.contentVisibility = 'visible';
    const seen = look();
    block.style.contentVisibility = '';
    return seen;
}

// As high as all of its tiles will be, so that nothing moves when they are built or come into sight.
function sizeBlock(block, columns) {
    const height = Math.ceil(block.dataset.tiles / columns) * (Number(block.dataset.tileHeight) + gap);
    block.style.containIntrinsicHeight = `${height - gap}px`;
    block.style.minHeight = hostsOfBlock.has(block) ? `${height}px` : '';
}

// Again, for another width.
function sizeBlocks() {
    const blocks = [...map.querySelectorAll('.block')];
    if (blocks.length === 0) return;
    const columns = inLayout(blocks[0], () => columnsOf(blocks[0]));
    for (const block of blocks) sizeBlock(block, columns);
}
window.addEventListener('resize', sizeBlocks);

function addBlock(parent, hosts) {
    const block = el('ul', 'block');
    parent.append(block);
    hostsOfBlock.set(block, hosts);
    block.dataset.tiles = hosts.length;
    const first = tile(hosts[0]);
    block.append(first);
    const [height, columns] = inLayout(block, () => [first.getBoundingClientRect().height, columnsOf(block)]);
    first.remove();
    block.dataset.tileHeight = height;
    sizeBlock(block, columns);
    nearby.observe(block);
}

function addSection(title, hosts) {
    const part = el('section', 'group');
    if (title) part.append(el('h2', '', ...title));
    map.append(part);
    for (let at = 0; at < hosts.length; at += blockSize) addBlock(part, hosts.slice(at, at + blockSize));
}

let rounds = 0;
function showMap(hosts, {query, order}) {
    words = wordsOf(query);
    isDense = order === 'name';
    nearby.disconnect();
    hostsOfBlock.clear();
    map.replaceChildren();
    if (isDense) {
        if (hosts.length > 0) addSection(null, hosts);
    } else {
        for (const state of states) {
            const group = hosts.filter(host => host.state === state);
            if (group.length > 0) addSection([sign(state), `${wordOf(state)} `, el('small', '', group.length)], group);
        }
    }
    buildFirst();
    makeStop(map.querySelector('.tile a'));
    buildIdly(++rounds);
}

function tileOf(host) {
    for (const [block, hosts] of hostsOfBlock) if (hosts.includes(host)) build(block);
    return map.querySelector(`.tile[data-place="${host.place}"]`);
}
const hostOf = node => report.hosts[node.closest('.tile').dataset.place];

let openHost = null, openGpu = null;
// Shows which host and which GPU stand open beside the map.
function markOpen() {
    for (const node of map.querySelectorAll('.open')) node.classList.remove('open');
    const node = openHost && map.querySelector(`.tile[data-place="${openHost.place}"]`);
    if (!node) return;
    node.classList.add('open');
    if (openGpu) node.querySelector(`[data-gpu="${CSS.escape(openGpu)}"]`)?.classList.add('open');
}

// --- keys ------------------------------------------------------------------------------------------------------------

// The map is one stop of the tab key; arrows move within it.
function makeStop(link) {
    map.querySelector('a[tabindex="0"]')?.setAttribute('tabindex', '-1');
    if (link) link.tabIndex = 0;
}

function besideBlock(block, step) {
    const blocks = [...map.querySelectorAll('.block')];
    const next = blocks[blocks.indexOf(block) + step];
    if (next) build(next);
    return next;
}

function besideTile(node, step) {
    const next = step > 0 ? node.nextElementSibling : node.previousElementSibling;
    if (next) return next;
    const block = besideBlock(node.parentNode, step);
    return block ? (step > 0 ? block.firstElementChild : block.lastElementChild) : null;
}

// The tile above or below, in the same column where there is one.
function tileBelow(node, step) {
    const block = node.parentNode;
    const columns = columnsOf(block);
    const place = [...block.children].indexOf(node);
    const next = block.children[place + step * columns];
    if (next) return next;
    const column = place % columns;
    const lastRow = Math.floor((block.children.length - 1) / columns) * columns;
    if (step > 0 && place < lastRow) return block.lastElementChild;
    const other = besideBlock(block, step);
    if (!other) return null;
    const row = step > 0 ? 0 : Math.floor((other.children.length - 1) / columns) * columns;
    return other.children[Math.min(row + column, other.children.length - 1)];
}

function linkBeside(link, key) {
    const node = link.closest('.tile');
    const links = [...node.querySelectorAll('a')];
    const place = links.indexOf(link);
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
        const step = key === 'ArrowRight' ? 1 : -1;
        if (links[place + step]) return links[place + step];
        const next = besideTile(node, step);
        return next && [...next.querySelectorAll('a')].at(step > 0 ? 0 : -1);
    }
    if (key === 'ArrowUp' || key === 'ArrowDown') {
        const next = tileBelow(node, key === 'ArrowDown' ? 1 : -1);
        const others = next ? [...next.querySelectorAll('a')] : [];
        return others[Math.min(place, others.length - 1)];
    }
    if (key === 'Home') return map.querySelector('.tile a');
    return null;
}

map.addEventListener('keydown', event => {
    const link = event.target.closest('.tile a');
    if (!link || event.ctrlKey || event.altKey || event.metaKey) return;
    const next = linkBeside(link, event.key);
    if (!next) return;
    event.preventDefault();
    next.focus();
});
map.addEventListener('focusin', event => {
    const link = event.target.closest('.tile a');
    if (link) makeStop(link);
});
