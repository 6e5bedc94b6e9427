/** Colours of the map by day and by night: a calm ground that leaves the eye to the shelters. */

export type Theme = "light" | "dark";

export const palettes = {
  light: {
    water: "#c8dbe3",
    land: "#f5f2ea",
    coast: "#8ba7b3",
    border: "#a28f9f",
    country: "#8c8278",
    label: "#1f2a24",
    halo: "#fbfaf6",
    ring: "#14532d",
    visitor: "#1d5fd1",
  },
  dark: {
    water: "#10191f",
    land: "#20282a",
    coast: "#3c5260",
    border: "#6c5f70",
    country: "#7f8a86",
    label: "#eef3ef",
    halo: "#151b1c",
    ring: "#9fe0b8",
    visitor: "#6ea8ff",
  },
} as const;
