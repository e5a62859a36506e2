"""The paper's own numbers: appendix D, tables 1 and 2, successful retrievals out of 100 trials."""

TRIALS = 100

# With M = 500 hidden neurons, for each way of learning: period length T -> successes.
TABLE_1 = {
    "V": {
        10: 100, 20: 100, 30: 100, 40: 91, 50: 66, 60: 19, 70: 8, 80: 2,
        90: 0, 100: 0, 110: 0, 120: 0, 130: 0, 140: 0, 150: 0,
    },
    "UV": {
        10: 100, 20: 100, 30: 100, 40: 100, 50: 100, 60: 99, 70: 88, 80: 52,
        90: 20, 100: 1, 110: 0, 120: 0, 130: 0, 140: 0, 150: 0,
    },
}  # fmt: skip

# With the period length T = 70, for each way of learning: number of hidden neurons M -> successes.
TABLE_2 = {
    "V": {100: 0, 200: 0, 300: 1, 400: 3, 500: 6, 600: 16, 700: 14, 800: 27, 900: 30, 1000: 37},
    "UV": {100: 10, 200: 52, 300: 85, 400: 90, 500: 94, 600: 88, 700: 95, 800: 96, 900: 96, 1000: 97},
}
