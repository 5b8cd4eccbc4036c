/** Upper bounds of histograms, in seconds: of calls that somebody waits for. */
export const callSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Of the upgrade of one host, which takes from a minute to hours. */
export const hostSeconds = [1, 10, 60, 300, 600, 1200, 1800, 2700, 3600, 5400, 7200, 14_400, 28_800];
