"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  all(".needs-script").forEach((part) => { part.hidden = false; });

  // Theme: as the system says until someone chooses.
  const themes = ["auto", "light", "dark"];
  const button = document.getElementById("theme");
  const store = {
    read() { try { return localStorage.getItem("protolabel-theme"); } catch { return null; } },
    // A page opened from a file may not be allowed to keep anything: the choice is then its own.
    write(value) { try { localStorage.setItem("protolabel-theme", value); } catch { return; } },
  };
  const setTheme = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  setTheme(themes.includes(store.read()) ? store.read() : "auto");
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % 3];
    setTheme(next);
    store.write(next);
  });

  // Tables sorted by a column; empty cells always last.
  const keyOf = (row, column, kind) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    if (kind === "text") return text.toLowerCase();
    const value = parseFloat(text);
    return Number.isNaN(value) ? null : value;
  };
  const sortBy = (table, head) => {
    const heads = [...head.parentNode.cells];
    const falls = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    const column = heads.indexOf(head);
    const kind = head.dataset.sort;
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [keyOf(row, column, kind), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = a < b ? -1 : a > b ? 1 : 0;
      return falls ? -order : order;
    });
    body.append(...rows.map(([, row]) => row));
  };
  all("table.sortable th[data-sort]").forEach((head) => {
    const inner = document.createElement("button");
    inner.type = "button";
    inner.append(...head.childNodes);
    head.append(inner);
    inner.addEventListener("click", () => sortBy(head.closest("table"), head));
  });

  // Rows that contain a text, columns that are ticked.
  all("input[data-filter]").forEach((input) => {
    const name = input.dataset.filter;
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      let total = 0;
      all("table[data-name]").filter((t) => t.dataset.name === name).forEach((table, number) => {
        [...table.tBodies[0].rows].forEach((row) => {
          const place = table.classList.contains("results") ? row.cells[0] : row;
          row.hidden = !place.textContent.toLowerCase().includes(wanted);
          if (number === 0) { total += 1; shown += !row.hidden; }
        });
      });
      all("[data-count]").filter((c) => c.dataset.count === name).forEach((count) => {
        count.textContent = wanted ? `${shown} of ${total} rows` : "";
      });
    });
  });
  all("input[data-column]").forEach((box) => {
    box.addEventListener("change", () => {
      const column = Number(box.dataset.column);
      all("table[data-name]").filter((t) => t.dataset.name === box.dataset.of).forEach((table) => {
        [...table.rows].forEach((row) => { row.cells[column].hidden = !box.checked; });
      });
    });
  });

  // Panels one at a time; without this script, and on paper, they stand below each other.
  all("[data-tabs]").forEach((group) => {
    const panels = all(":scope > [data-tab]", group);
    if (panels.length < 2) return;
    const list = document.createElement("div");
    list.className = "tablist";
    list.setAttribute("role", "tablist");
    const tabs = panels.map((panel) => {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.setAttribute("role", "tab");
      tab.textContent = panel.dataset.tab;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-label", panel.dataset.tab);
      list.append(tab);
      return tab;
    });
    const choose = (chosen) => tabs.forEach((tab, number) => {
      tab.setAttribute("aria-selected", String(number === chosen));
      tab.tabIndex = number === chosen ? 0 : -1;
      panels[number].classList.toggle("away", number !== chosen);
    });
    tabs.forEach((tab, number) => {
      tab.addEventListener("click", () => choose(number));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = (number + step + tabs.length) % tabs.length;
        choose(next);
        tabs[next].focus();
      });
    });
    group.prepend(list);
    choose(0);
  });

  // One tip for everything that carries a text, by pointer and by keyboard.
  const tip = document.getElementById("tip");
  const showTip = (part) => {
    tip.textContent = part.dataset.tip;
    tip.hidden = false;
    const box = part.getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left + box.width / 2 - own.width / 2),
      Math.max(8, document.documentElement.clientWidth - own.width - 8));
    const below = box.bottom + 8 + own.height < window.innerHeight;
    tip.style.left = `${left + window.scrollX}px`;
    tip.style.top = `${(below ? box.bottom + 8 : Math.max(4, box.top - own.height - 8)) + window.scrollY}px`;
  };
  const hideTip = () => { tip.hidden = true; };
  const tipOf = (event) => event.target.closest?.("[data-tip]");
  document.addEventListener("pointerover", (event) => {
    const part = tipOf(event);
    if (part) showTip(part); else if (!document.activeElement?.dataset?.tip) hideTip();
  });
  document.addEventListener("focusin", (event) => {
    const part = tipOf(event);
    if (part) showTip(part); else hideTip();
  });
  document.addEventListener("focusout", hideTip);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

  // A map reduced to one label.
  all("select[data-map]").forEach((select) => {
    const choose = () => {
      const map = document.getElementById(select.dataset.map);
      const label = select.value;
      map.classList.toggle("one-label", label !== "");
      all("[data-labels]", map).forEach((part) => {
        part.classList.toggle("chosen", label !== "" && part.dataset.labels.split(" ").includes(label));
      });
    };
    select.addEventListener("change", choose);
    choose();
  });
})();
