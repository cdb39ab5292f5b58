export async function runsPage() {}
export async function runPage() {}
export async function reportsPage() {}
