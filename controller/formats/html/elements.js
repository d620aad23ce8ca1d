'use strict';
// Elements and the texts in them. Children that are strings become text, never markup; absent ones are left out.

function el(name, className, ...children) {
    const node = document.createElement(name);
    if (className) node.className = className;
    node.append(...children.flat(Infinity).filter(child => child === 0 || child));
    return node;
}

// Text of a host: its direction stays its own.
const foreign = (className, text) => el('bdi', className, text);

// A button that does something in this page.
function button(className, text, action) {
    const node = el('button', className, text);
    node.type = 'button';
    node.addEventListener('click', action);
    return node;
}

function titled(node, title) {
    node.title = title;
    node.setAttribute('aria-label', title);
    return node;
}

const section = (title, ...children) => el('section', '', el('h3', '', title), ...children);

const plural = (count, noun, nouns) => `${count} ${count === 1 ? noun : nouns || noun + 's'}`;

// As the text report has it: 0.13 s, 4.2 s, 2m05s, 3h10m, 2d04h.
function duration(seconds) {
    if (Math.round(seconds * 100) < 100) return `${seconds.toFixed(2)} s`;
    if (Math.round(seconds * 10) < 100) return `${seconds.toFixed(1)} s`;
    const whole = Math.round(seconds), two = number => String(Math.floor(number)).padStart(2, '0');
    if (whole < 60) return `${whole} s`;
    if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
    if (whole < 86400) return `${Math.floor(whole / 3600)}h${two(whole / 60 % 60)}m`;
    return `${Math.floor(whole / 86400)}d${two(whole / 3600 % 24)}h`;
}

const mib = count => count === null ? '? MiB' : `${count} MiB`;

// What a state looks like without its colour.
const signs = {
    clean: '\u2713', dirty: 'D', sick: 'S', unknown: '?', unreachable: '\u00d7',
    ok: '\u2713', failed: '!', not_asked: '?',
};
const wordOf = state => state.replace('_', ' ');

const sign = state => {
    const node = el('span', `sign ${state}`, signs[state]);
    node.setAttribute('aria-hidden', 'true');
    return node;
};
const badge = state => el('span', `badge ${state}`, sign(state), wordOf(state));
