/** Says what is wrong with a value, in words that follow the name of its parameter. */
export class Fault {
  readonly detail: string;

  constructor(detail: string) {
    this.detail = detail;
  }
}
