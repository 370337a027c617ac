/** Steps of a unit of the program that reads a scalar each step. */
export const loopSteps = 100;
