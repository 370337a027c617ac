/**
 * All schedules, as the namespace `schedule` has them.
 */
export * from "./schedule.ts";
export * from "./schedule-courses.ts";
